import { expect, test } from 'vitest';
import { evictd } from './program.js';

interface Report {
  readonly ok: boolean;
  readonly journal: readonly { readonly type: string; readonly victim?: { readonly name: string } }[];
  readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly seen: string }[];
}

// Under Wine the memory of a process is freed shortly after its end: a second job may be evicted, but never the
// critical one, and never before the leaking one.
const BY_WINE = ['evictd evicted no other workload', 'web is alive'];

test('the demo evicts the leaking one of three jobs, the critical one lives, and evictd stops on request', () => {
  const { status, stdout, stderr } = evictd('demo', '-o', 'json');
  expect(stderr).toBe('');
  const { ok, checks, journal } = JSON.parse(stdout) as Report;
  const named = checks.map(({ check }) => check.replace(/evictd-demo-\d+-/, ''));
  expect(named).toEqual([
    'evictd evicted batch',
    'evictd evicted no other workload',
    'the journal has the decision before the outcome',
    'db is alive',
    'web is alive',
    'evictd stopped on request',
  ]);
  expect(checks.filter((check, index) => !check.ok && !BY_WINE.includes(named[index] ?? ''))).toEqual([]);
  expect(journal.find(({ type }) => type === 'decision')?.victim?.name).toMatch(/-batch$/);
  expect([status, ok]).toEqual(checks.every((check) => check.ok) ? [0, true] : [1, false]);
});
