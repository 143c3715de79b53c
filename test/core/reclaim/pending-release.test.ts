import { describe, expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import { exitTimeoutsFor } from '../../../src/core/reclaim/exit-timeouts.js';
import type { Resource, Signal } from '../../../src/core/signal/signal.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { listed } from '../listed.js';
import { candidates, Mi, policy, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/** A fork bomb is evicted for process ids; it also holds 300 MiB. */
const pids = threshold('pid.available', '100');
const bytes = threshold('memory.available', '100Mi');
const all: Candidates = {
  ...candidates([workload('bomb', { priority: -1 }), 300n * Mi], [workload('web'), 50n * Mi]),
  processes: () =>
    new Map([
      ['id-bomb', 500n],
      ['id-web', 3n],
    ]),
};
const evictable = new Set<Resource>(['memory', 'pids']);

function bombed(other: Threshold, departures = policy([]).departures): Timeline {
  const timeline = new Timeline(policy([pids, other], { evictable, departures, pressureWindowNs: 1n }), all);
  expect(evicted(timeline.effects(0, { 'pid.available': 5n, 'memory.available': 500n * Mi }))).toEqual(['evict bomb grace 0']);
  timeline.candidates = { ...all, usages: all.usages.slice(1) };
  return timeline;
}

const dying = (reading: Partial<VictimReading> = {}) => ({ 1: { processes: 500, usageBytes: 300n * Mi, ...reading } });

describe('while a victim for process ids dies', () => {
  test.each<[rule: string, other: Threshold, readings: Partial<Record<Signal, bigint>>, victims: ReturnType<typeof dying>, evicts: number]>(
    [
      ['the memory that it still holds covers the shortage', bytes, { 'memory.available': 50n * Mi }, dying(), 0],
      [
        'the memory that it still holds covers the shortage exactly',
        bytes,
        { 'memory.available': 0n },
        dying({ usageBytes: 100n * Mi }),
        0,
      ],
      [
        'the memory that it still holds does not quite cover the shortage',
        bytes,
        { 'memory.available': 0n },
        dying({ usageBytes: 100n * Mi - 1n }),
        1,
      ],
      ['memory that it has already freed is not counted again', bytes, { 'memory.available': 50n * Mi }, dying({ usageBytes: 0n }), 1],
      [
        'a joined threshold of pressure waits for its bytes',
        listed('memory.pressure.full>10% & memory.available<100Mi', 'hard'),
        { 'memory.available': 50n * Mi, 'memory.pressure.full': 900_000_000n },
        dying(),
        0,
      ],
      ['pressure alone waits', listed('memory.pressure.full>10%', 'hard'), { 'memory.pressure.full': 900_000_000n }, dying(), 0],
      [
        'pressure alone, and nothing comes back any more',
        listed('memory.pressure.full>10%', 'hard'),
        { 'memory.pressure.full': 900_000_000n },
        dying({ usageBytes: 0n }),
        1,
      ],
      [
        'another cgroup is short',
        threshold('allocatableMemory.available', '100Mi'),
        { 'allocatableMemory.available': 50n * Mi },
        dying(),
        0,
      ],
    ],
  )('%s', (_rule, other, readings, victims, evicts) => {
    const said = bombed(other).effects(0.01, { 'pid.available': 5n, ...readings }, victims);
    expect(evicted(said)).toHaveLength(evicts);
  });

  test('another resource gets a victim of its own without departure node-yield', () => {
    const timeline = bombed(bytes, without('node-yield'));
    expect(evicted(timeline.effects(0.01, { 'pid.available': 5n, 'memory.available': 50n * Mi }, dying()))).toHaveLength(1);
  });

  test('evictd does not wait for a victim that makes no progress, because a process may hang in the kernel', () => {
    const timeline = bombed(bytes);
    const back = { 'pid.available': 500n, 'memory.available': 50n * Mi };
    const hangs = dying({ processes: 1 });
    const stillNs = Number(exitTimeoutsFor(300n * Mi).noProgressNs) / 1e9;
    expect(evicted(timeline.effects(1, back, hangs))).toEqual([]);
    expect(evicted(timeline.effects(stillNs - 0.001, back, hangs))).toEqual([]);
    expect(evicted(timeline.effects(stillNs, back, hangs))).toEqual(['evict web grace 0']);
  });

  test('a victim in its grace period has freed nothing yet', () => {
    const soft = { ...threshold('pid.available', '100', { graceSeconds: 1 }) };
    const timeline = new Timeline(policy([soft, bytes], { evictable }), all);
    const short = { 'pid.available': 5n, 'memory.available': 500n * Mi };
    timeline.effects(0, short);
    expect(evicted(timeline.effects(1, short))).toEqual(['evict bomb grace 10']);
    timeline.candidates = { ...all, usages: all.usages.slice(1) };
    expect(evicted(timeline.effects(1.1, { ...short, 'memory.available': 50n * Mi }, dying()))).toHaveLength(1);
  });
});

test('evictd also waits for the process ids of a victim for memory', () => {
  const timeline = new Timeline(policy([bytes, pids], { evictable }), all);
  expect(evicted(timeline.effects(0, { 'memory.available': 50n * Mi, 'pid.available': 500n }))).toEqual(['evict bomb grace 0']);
  timeline.candidates = { ...all, usages: all.usages.slice(1), processes: () => new Map([['id-web', 90n]]) };
  const short = { 'memory.available': 50n * Mi, 'pid.available': 5n };
  expect(evicted(timeline.effects(0.01, short, dying({ processes: 95 })))).toHaveLength(0);
  expect(evicted(timeline.effects(0.02, short, dying({ processes: 94 })))).toHaveLength(1);
});
