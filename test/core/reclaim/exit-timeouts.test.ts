import { describe, expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import { exitTimeoutsFor } from '../../../src/core/reclaim/exit-timeouts.js';
import { candidates, Gi, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

test.each<[bytes: bigint, stillSeconds: number, atMostSeconds: number]>([
  [0n, 1, 10],
  [Gi, 2, 20],
  [5n * Gi, 6, 60],
  [9n * Gi, 10, 60],
  [1024n * Gi, 10, 60],
])('the time limit for the exit of %d bytes', (bytes, still, most) => {
  expect(exitTimeoutsFor(bytes)).toEqual({ noProgressNs: BigInt(still) * SECOND, totalNs: BigInt(most) * SECOND });
});

describe('a victim of 1 GiB that dies while another eviction is due', () => {
  const all = candidates([workload('large'), Gi], [workload('web'), 50n * Mi]);
  const dying = (reading: Partial<VictimReading> = {}) => ({ 1: { usageBytes: Gi, ...reading } });

  /** Seconds at which the next one is evicted, of readings a second apart. */
  function nextAt(
    reading: (second: number) => Partial<VictimReading>,
    available = (_second: number) => 50n,
    departures = policy([]).departures,
  ) {
    const timeline = new Timeline(policy([threshold('memory.available', '100Mi')], { departures }), all);
    timeline.memory(0, 50n);
    for (let second = 1; second <= 60; second += 1) {
      if (evicted(timeline.memory(second, available(second), dying(reading(second)))).length > 0) return second;
    }
    return undefined;
  }

  test.each<
    [rule: string, reading: (second: number) => Partial<VictimReading>, available: ((second: number) => bigint) | undefined, next: number]
  >([
    ['its memory does not shrink', () => ({}), undefined, 2],
    ['its swap shrinks', (second) => ({ swapBytes: Gi - BigInt(second) }), undefined, 20],
    ['its processes use the processor', (second) => ({ processorTicks: BigInt(second) }), undefined, 20],
    ['a process waits for a processor', () => ({ runs: true }), undefined, 20],
    ['the node gets memory back', () => ({}), (second) => 50n + BigInt(second), 20],
    ['the node loses memory, which says nothing', () => ({}), (second) => 50n - BigInt(second), 2],
    ['other workloads move the node up and down', () => ({}), (second) => 50n - BigInt(second % 2), 4],
    ['its memory shrank until the fifth second', (second) => ({ swapBytes: second <= 5 ? Gi - BigInt(second) : 0n }), undefined, 8],
  ])('%s', (_rule, reading, available, next) => {
    expect(nextAt(reading, available)).toBe(next);
  });

  test('has a second without departure node-yield', () => {
    expect(nextAt((second) => ({ processorTicks: BigInt(second) }), undefined, without('node-yield'))).toBe(1);
  });
});
