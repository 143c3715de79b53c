import { expect, test } from 'vitest';
import { candidates, Mi, policy, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * The kubelet counts a grace period from when the threshold was first seen met, whether or not it looked meanwhile: a
 * node that slept through the grace period with a full memory at both ends evicts at once, though it is not known what was
 * in between.
 */
const soft = threshold('memory.available', '200Mi', { graceSeconds: 60 });
const all = candidates([workload('batch'), 300n * Mi]);
const sides = [
  { side: 'kubelet', departures: without('grace-restart') },
  { side: 'evictd', departures: policy([]).departures },
] as const;
const loop = (side: (typeof sides)[number]): Timeline => new Timeline(policy([soft], { departures: side.departures }), all);

test.each<[rule: string, gapSeconds: number, kubelet: string[], evictd: string[]]>([
  ['three intervals are not a gap', 30, [], []],
  ['a gap that ends before the grace period would', 31, [], []],
  ['a gap that is longer than the grace period', 70, ['evict batch grace 10'], []],
])('%s', (_rule, gap, kubelet, evictd) => {
  const outcomes = sides.map((side) => {
    const timeline = loop(side);
    timeline.memory(0, 150n);
    return evicted(timeline.memory(gap, 150n));
  });
  expect(outcomes).toEqual([kubelet, evictd]);
});

test('after a gap in the readings the whole grace period runs again', () => {
  const outcomes = sides.map((side) => {
    const timeline = loop(side);
    const seconds = [0, 10, 20, 30, 65, 75, 85, 95, 105, 115, 124, 125];
    return seconds.find((at) => evicted(timeline.memory(at, 150n)).length > 0);
  });
  expect(outcomes).toEqual([65, 125]);
});

test('a clock that jumps back restarts the grace period, too', () => {
  const outcomes = sides.map((side) => {
    const timeline = loop(side);
    for (const at of [1000, 1010, 1020]) timeline.memory(at, 150n);
    timeline.memory(500, 150n);
    return [510, 520, 530, 540, 550, 559, 560].find((at) => evicted(timeline.memory(at, 150n)).length > 0);
  });
  expect(outcomes).toEqual([undefined, 560]); // the kubelet would wait until 1060
});

test.each<[rule: string, readableAt: readonly number[], since: number]>([
  ['readings that fail for three intervals are not a gap', [0, 10, 40, 50, 60], 60],
  ['readings that fail for longer: the time between was not observed', [0, 10, 50, 60, 70, 80, 90, 100, 109, 110], 110],
])('%s', (_rule, readableAt, since) => {
  const timeline = new Timeline(policy([soft]), all);
  const evictedAt: number[] = [];
  for (let at = 0; at <= since; at += 1) {
    if (at % 10 !== 0 && !readableAt.includes(at)) continue;
    const said = readableAt.includes(at) ? timeline.memory(at, 150n) : timeline.effects(at, {});
    if (evicted(said).length > 0) evictedAt.push(at);
  }
  expect(evictedAt).toEqual([since]);
});

test('a hard threshold evicts at once after a clock jumped back', () => {
  const outcomes = sides.map(({ departures }) => {
    const timeline = new Timeline(policy([threshold('memory.available', '200Mi')], { departures }), candidates());
    timeline.memory(1000, 150n);
    timeline.candidates = all;
    return [500, 510, 520, 999, 1000].find((at) => evicted(timeline.memory(at, 150n)).length > 0);
  });
  expect(outcomes).toEqual([1000, 510]); // the reading at 500 is not newer than that at 1000
});

test('a hard threshold evicts at once', () => {
  for (const side of sides) {
    const timeline = new Timeline(policy([threshold('memory.available', '200Mi')], { departures: side.departures }), all);
    timeline.memory(0, 500n);
    expect(evicted(timeline.memory(1000, 150n))).toEqual(['evict batch grace 0']);
  }
});
