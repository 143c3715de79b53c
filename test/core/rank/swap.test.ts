import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { describeRanked, rank, type RankOptions } from '../../../src/core/rank/rank.js';
import type { ResourceSignal } from '../../../src/core/signal/signal.js';
import { countsSwap } from '../../../src/core/threshold/threshold.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { listed } from '../listed.js';
import { Mi, threshold } from '../support.js';
import { machine } from '../usage.js';

/** A workload of 100 MiB, and the swap that it uses in MiB. */
const using = (name: string, memoryMib: bigint, swapMib: bigint | undefined, request = 0n): WorkloadUsage => {
  const { workload, stats } = machine(name, memoryMib * Mi, { requests: { memory: request * Mi } });
  return { workload, stats: stats && { ...stats, ...(swapMib !== undefined && { swapBytes: swapMib * Mi }) } };
};
const usages = [using('resident', 100n, undefined), using('swapped', 20n, 500n)];
const ranked = (signal: ResourceSignal, options: RankOptions, given = usages) =>
  rank(signal, 'single', given, departuresOf('evictd'), options);
const order = (...args: Parameters<typeof ranked>): string[] => ranked(...args).map(({ workload }) => workload.name);

describe('a workload that is mostly swapped out', () => {
  test('ranks first where swap or pressure is an operand', () => {
    expect(order('memory.available', { countsSwap: true })).toEqual(['swapped', 'resident']);
    expect(order('memory.pressure.full', { countsSwap: true })).toEqual(['swapped', 'resident']);
  });

  test('ranks as a small one where memory alone is short', () => {
    expect(order('memory.available', {})).toEqual(['resident', 'swapped']);
  });

  test('exceeds its request with its swap', () => {
    const [first] = ranked('memory.available', { countsSwap: true }, [using('swapped', 20n, 500n, 100n)]);
    expect(first).toMatchObject({
      exceedsRequest: true,
      usage: 520n * Mi,
      swapped: 500n * Mi,
      aboveRequestNano: 420n * Mi * 1_000_000_000n,
    });
    expect(ranked('memory.available', {}, [using('swapped', 20n, 500n, 100n)])[0]).toMatchObject({
      exceedsRequest: false,
      usage: 20n * Mi,
    });
  });

  test('has its swap in the report', () => {
    const [first, second] = ranked('memory.available', { countsSwap: true });
    expect(first && describeRanked(first, 'memory')).toBe('uses 520MiB (500MiB of it swap), has no request, priority 0');
    expect(second && describeRanked(second, 'memory')).toBe('uses 100MiB, has no request, priority 0');
    expect(second).not.toHaveProperty('swapped');
  });

  test('has an unknown usage if its memory is unknown', () => {
    const { workload } = using('unknown', 0n, 0n);
    const stats = { ...using('unknown', 0n, 500n).stats, workingSetBytes: undefined } as WorkloadUsage['stats'];
    expect(ranked('memory.available', { countsSwap: true }, [{ workload, stats }])[0]?.usage).toBeUndefined();
  });

  test('is compared by process ids like others', () => {
    for (const item of ranked('pid.available', { countsSwap: true })) expect(item).not.toHaveProperty('swapped');
  });
});

test.each<[rule: string, counts: boolean, of: Parameters<typeof countsSwap>[0]]>([
  ['memory alone', false, threshold('memory.available', '100Mi')],
  ['memory joined with process ids', false, listed('memory.available<10% & pid.available<10%', 'hard')],
  ['joined with swap', true, listed('swap.available<5% & memory.available<5%', 'hard')],
  ['joined with pressure of memory', true, listed('memory.pressure.full>40% & memory.available<10%', 'soft')],
  ['joined with pressure of a disk, which swaps', true, listed('io.pressure.full>40% & memory.available<10%', 'soft')],
])('whether swap counts as usage: %s: %s', (_rule, counts, of) => {
  expect(countsSwap(of)).toBe(counts);
});
