import { expect, test } from 'vitest';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * One reading fails in the middle of a soft grace period: the kubelet forgets the threshold, and its grace period
 * begins anew.
 */
test.each([
  { side: 'kubelet', departures: without('missing-signal'), missed: ['cleared memory.available'], then: [] },
  { side: 'evictd', departures: policy([]).departures, missed: [], then: ['evict batch grace 10'] },
])('$side', ({ departures, missed, then }) => {
  const soft = threshold('memory.available', '200Mi', { graceSeconds: 30 });
  const timeline = new Timeline(policy([soft], { departures }), candidates([workload('batch'), 300n * Mi]));
  timeline.memory(0, 150n);
  timeline.memory(10, 150n);
  expect(timeline.effects(20, {})).toEqual(missed);
  expect(evicted(timeline.memory(30, 150n))).toEqual(then);
});

test('a missing reading evicts nothing', () => {
  const soft = threshold('memory.available', '200Mi', { graceSeconds: 30 });
  const timeline = new Timeline(policy([soft]), candidates([workload('batch'), 300n * Mi]));
  for (const at of [0, 10, 20]) timeline.memory(at, 150n);
  expect(timeline.effects(30, {})).toEqual([]);
});

test('a condition whose signal stays unreadable ends after the transition period: MemoryPressure does not stay for ever', () => {
  const period = { pressureTransitionPeriodNs: 60n * SECOND };
  const timeline = new Timeline(policy([threshold('memory.available', '200Mi')], { ...period, hasWorkloadSource: false }), candidates());
  timeline.memory(0, 150n);
  const said = [10, 20, 30, 40, 50, 60, 61, 70, 80, 90, 100, 110, 120].map((at) => [at, ...timeline.effects(at, {})]);
  expect(said.filter(([, ...effects]) => effects.length > 0)).toEqual([
    [61, 'cleared memory.available'],
    [120, 'MemoryPressure=false'],
  ]);
});
