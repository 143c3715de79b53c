import { describe, expect, test } from 'vitest';
import { suffices } from '../../src/core/inhibit-delay.js';
import { exemptFromShutdown } from '../../src/core/shutdown-exempt.js';
import { groupByPriority } from '../../src/core/shutdown-plan.js';
import type { Protection, Workload } from '../../src/core/workload.js';
import { SECOND, workload } from './support.js';

const CRITICAL = { protection: { kind: 'critical' } } as const;
const PERIODS = [
  { priority: 0, gracePeriodNs: 20n * SECOND },
  { priority: 2_000_000_000, gracePeriodNs: 10n * SECOND },
  { priority: 2_000_001_000, gracePeriodNs: 5n * SECOND },
];

// What pods do is in test/vectors/shutdown.jsonl.
test.each<[rule: string, overrides: Partial<Workload>, group: number]>([
  ['without a rule', {}, 0],
  ['critical, whatever its priority', { ...CRITICAL, priority: -5 }, 2_000_000_000],
  ['critical, and above that', { ...CRITICAL, priority: 2_000_001_000 }, 2_000_001_000],
  ['that asks never to be evicted', { protection: { kind: 'omit' } }, 0],
])('a machine workload %s', (_rule, overrides, group) => {
  const groups = groupByPriority(PERIODS, [workload('w', overrides)]);
  expect(groups.filter(({ workloads }) => workloads.length > 0).map(({ priority }) => priority)).toEqual([group]);
});

describe('who ends at a shutdown', () => {
  test.each<[rule: string, overrides: Partial<Workload>, found: Protection | undefined, why: Protection['kind'] | undefined]>([
    ['anybody', {}, undefined, undefined],
    ['a critical one', CRITICAL, undefined, undefined],
    ['where evictd lives: not', {}, { kind: 'self' }, 'self'],
    ['a critical one where evictd lives: not', CRITICAL, { kind: 'self' }, 'self'],
    ['a protected unit: not', { protection: { kind: 'unit', why: 'x' } }, undefined, 'unit'],
    ['one that a rule calls critical besides: not', { ...CRITICAL, path: '/system.slice/ssh.service' }, undefined, 'unit'],
    ['one of which a rule has lifted that', { path: '/system.slice/ssh.service' }, undefined, undefined],
    ['what contains a protected one: not', { protection: { kind: 'contains', name: 'x' } }, undefined, 'contains'],
    ['whom an eviction would not help', { protection: { kind: 'kill-failed' } }, { kind: 'changed' }, undefined],
  ])('%s', (_rule, overrides, found, why) => {
    expect(exemptFromShutdown(workload('w', overrides), found)?.kind).toBe(why);
  });

  test('a pod of a kubelet is ended by that, also where a rule calls it critical', () => {
    const runtime = { endpoint: 'unix:///run/c.sock', podId: 'p', containers: [], isPod: true, labels: {}, byKubelet: true };
    expect(exemptFromShutdown(workload('w', { ...CRITICAL, runtime }), undefined)).toEqual({ kind: 'kubelet' });
  });
});

test.each<[rule: string, seconds: bigint, enough: boolean]>([
  ['exactly as long', 30n, true],
  ['shorter', 29n, false],
])('the time that a shutdown waits: %s', (_rule, seconds, enough) => {
  expect(suffices({ kind: 'known', maxNs: seconds * SECOND }, 30n * SECOND)).toBe(enough);
  expect(suffices({ kind: 'unknown', reason: 'x' }, 30n * SECOND)).toBeUndefined();
});
