import { expect, test } from 'vitest';
import { swapHolders, swapText } from '../../../src/core/budget/swap-holders.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { Mi, stats, workload } from '../support.js';

const swapped = (name: string, mib: bigint, isCritical = false): WorkloadUsage => ({
  workload: workload(name, isCritical ? { protection: { kind: 'critical' } } : {}),
  stats: stats(mib > 0n ? { swapBytes: mib * Mi } : {}),
});

const text = (...usages: readonly WorkloadUsage[]): string => swapText(swapHolders(usages, { available: 24n * Mi, capacity: 1024n * Mi }));

test.each<[rule: string, usages: readonly WorkloadUsage[], words: string]>([
  ['the largest first', [swapped('a', 100n), swapped('b', 800n)], 'b 800MiB, a 100MiB; outside the workloads 100MiB'],
  ['why one may not be evicted', [swapped('db', 1000n, true)], 'db (never evicted: critical) 1000MiB; outside the workloads 0B'],
  ['an eighth of the largest', [swapped('a', 10n), swapped('b', 80n), swapped('c', 9n)], 'b 80MiB, a 10MiB; outside the workloads 901MiB'],
  [
    'three, of equals the first by path',
    ['d', 'c', 'b', 'a'].map((name) => swapped(name, 10n)),
    'a 10MiB, b 10MiB, c 10MiB; outside the workloads 960MiB',
  ],
  ['none', [swapped('a', 0n)], 'no workload; outside the workloads 1000MiB'],
  ['workloads in workloads count twice', [swapped('a', 900n), swapped('b', 900n)], 'a 900MiB, b 900MiB; outside the workloads 0B'],
])('what is swapped out: %s', (_rule, usages, words) => {
  expect(text(...usages)).toBe(`swapped out: ${words}`);
});
