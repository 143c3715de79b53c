import { describe, expect, test } from 'vitest';
import type { Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/** Candidates whose processes are counted on request. The first uses most memory. */
function counting(...counts: readonly (readonly [Workload, bigint | undefined])[]) {
  let requested = 0;
  const found = candidates(...counts.map(([each], index): [Workload, bigint] => [each, BigInt(900 - index) * Mi]));
  const processes = (): ReadonlyMap<string, bigint> => {
    requested += 1;
    return new Map(counts.flatMap(([{ id }, count]) => (count === undefined ? [] : [[id, count] as const])));
  };
  return { found: { ...found, processes }, requested: () => requested };
}

const short = [threshold('pid.available', '100')];

test.each<[rule: string, counts: readonly (readonly [Workload, bigint | undefined])[], victim: string]>([
  [
    'the most processes',
    [
      [workload('hog'), 3n],
      [workload('bomb'), 700n],
    ],
    'bomb',
  ],
  [
    'priority first',
    [
      [workload('important', { priority: 1 }), 700n],
      [workload('batch'), 3n],
    ],
    'batch',
  ],
  [
    'an uncounted workload ranks last',
    [
      [workload('unknown'), undefined],
      [workload('batch'), 1n],
    ],
    'batch',
  ],
  [
    'a protected workload is passed over',
    [
      [workload('db', { protection: { kind: 'critical' } }), 700n],
      [workload('batch'), 1n],
    ],
    'batch',
  ],
])('ranking for process ids: %s', (_rule, counts, victim) => {
  const { found } = counting(...counts);
  expect(evicted(new Timeline(policy(short), found).effects(0, { 'pid.available': 99n }))).toEqual([`evict ${victim} grace 0`]);
});

test('processes are counted only for process ids, and only when an eviction is due', () => {
  const { found, requested } = counting([workload('hog'), 3n]);
  const loop = new Timeline(policy([...short, threshold('memory.available', '100Mi')]), found);
  loop.effects(0, { 'pid.available': 100n, 'memory.available': 50n * Mi });
  expect(requested()).toBe(0);
});

describe('after an eviction for process ids', () => {
  const gone = { 1: { processes: 0, removed: true } };
  const loop = (): Timeline => {
    const begun = new Timeline(policy(short), counting([workload('bomb'), 100n], [workload('web'), 30n]).found);
    begun.effects(0, { 'pid.available': 10n });
    begun.candidates = counting([workload('web'), 30n]).found;
    return begun;
  };

  test('killed processes keep their ids until they are reaped, and no other workload is evicted until then', () => {
    const begun = loop();
    expect(begun.effects(0.1, { 'pid.available': 10n }, gone)).toEqual([]);
    expect(begun.effects(2, { 'pid.available': 99n }, gone)).toEqual([]);
    expect(begun.effects(2.1, { 'pid.available': 100n }, gone)).toEqual(['cleared pid.available', 'killed bomb 900Mi'].toReversed());
  });

  test('no other workload is evicted for a value that recovers for a moment while most processes are still to be reaped', () => {
    const begun = loop();
    expect(begun.effects(0.1, { 'pid.available': 100n }, { 1: {} })).toEqual(['cleared pid.available']);
    expect(begun.effects(0.2, { 'pid.available': 99n }, gone)).toEqual(['met pid.available']);
    expect(begun.effects(0.3, { 'pid.available': 110n }, gone)).toContain('killed bomb 900Mi');
  });

  test('the kubelet uses only the value of the signal', () => {
    const begun = loop();
    begun.policy = policy(short, { departures: without('no-yield') });
    expect(evicted(begun.effects(0.1, { 'pid.available': 10n }, gone))).toEqual(['evict web grace 0']);
  });

  test.each<[rule: string, seconds: number, available: bigint, goes: boolean]>([
    ['the min reclaim is owed, and nine tenths are back: it was not enough', 0.2, 100n, true],
    ['one process less than needed is free: evictd waits', 0.2, 99n, false],
    ['the processes are never reaped, and no other workload is evicted', 10.1, 10n, false],
    ['ten seconds are over, and they come back still', 10.1, 18n, false],
  ])('%s', (_rule, seconds, available, goes) => {
    const begun = loop();
    begun.policy = policy([threshold('pid.available', '100', { minReclaim: '50' })]);
    begun.effects(0.1, { 'pid.available': 10n }, gone);
    expect(evicted(begun.effects(seconds, { 'pid.available': available }, gone))).toEqual(goes ? ['evict web grace 0'] : []);
  });

  const slowly = (): Timeline => {
    const begun = loop();
    begun.policy = policy([threshold('pid.available', '100', { minReclaim: '50' })]);
    begun.effects(0.1, { 'pid.available': 10n }, gone);
    return begun;
  };

  test('the next eviction comes ten seconds after the last id was freed, where ids are freed slowly', () => {
    const begun = slowly();
    expect(begun.effects(9, { 'pid.available': 14n }, gone)).toEqual([]);
    expect(begun.effects(18, { 'pid.available': 17n }, gone)).toEqual([]);
    expect(begun.dueAtNs).toBe(19_000_000_000n); // not long ago, which would be without a pause
    expect(begun.effects(27.9, { 'pid.available': 17n }, gone)).toEqual([]);
    expect(evicted(begun.effects(28, { 'pid.available': 17n }, gone))).toEqual(['evict web grace 0']);
  });

  test('the next eviction comes a minute after the last one at the latest', () => {
    const begun = slowly();
    for (let second = 5; second <= 60; second += 5) {
      expect(begun.effects(second, { 'pid.available': 10n + BigInt(second) }, gone)).toEqual([]);
    }
    expect(begun.effects(60.1, { 'pid.available': 71n }, gone)).toEqual(['evict web grace 0', 'killed bomb 900Mi'].toReversed());
  });

  test('memory that stays does not make the eviction ineffective', () => {
    expect(loop().effects(0.2, { 'pid.available': 110n }, { 1: { processes: 0, usageBytes: 900n * Mi } })).toContain('killed bomb 0Mi');
  });
});
