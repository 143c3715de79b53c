import { expect, test } from 'vitest';
import { evictd } from './program.js';

interface JournalLine {
  readonly type: string;
  readonly result?: string;
  readonly processesLeft?: number;
  readonly victim?: { readonly name: string };
}

interface Report {
  readonly ok: boolean;
  readonly journal: readonly JournalLine[];
  readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly seen: string }[];
}

// Wine reports no working set, and the memory of a process is freed shortly after its end: the eviction may count as
// ineffective, and a second job may be evicted, but never the critical one, and never before the leaking one.
const BY_WINE = ['evictd evicted batch', 'evictd evicted no other workload', 'web is alive'];

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
  const wrong = checks.filter((check, index) => !check.ok && !BY_WINE.includes(named[index] ?? ''));
  expect(wrong.map(({ check, seen }) => `${check}: ${seen}`).join('\n')).toBe('');
  expect(journal.find(({ type }) => type === 'decision')?.victim?.name).toMatch(/-batch$/);
  const outcome = journal.find(({ type }) => type === 'outcome');
  expect(outcome?.victim?.name).toMatch(/-batch$/);
  expect(['killed', 'ineffective']).toContain(outcome?.result);
  expect(outcome?.processesLeft).toBe(0);
  expect([status, ok]).toEqual(checks.every((check) => check.ok) ? [0, true] : [1, false]);
});
