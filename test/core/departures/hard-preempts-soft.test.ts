import { expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { Timeline } from '../timeline.js';

/**
 * A pod that may take an hour to end is evicted for a soft threshold; then memory really runs out. The kubelet waits
 * for that hour in the same loop that would have to act on the hard threshold: the kernel kills first.
 */
const thresholds = [threshold('memory.available', '100Mi'), threshold('memory.available', '500Mi', { graceSeconds: 10 })];
const hour = 3600n * SECOND;
const all = candidates([workload('slow', { terminationGracePeriodNs: hour }), 300n * Mi], [workload('web'), 50n * Mi]);

test.each([
  { side: 'kubelet', departures: departuresOf('kubelet'), then: [] },
  { side: 'without the departure the hard threshold waits', departures: without('hard-preempts-soft'), then: ['met memory.available'] },
  {
    side: 'evictd',
    departures: departuresOf('evictd'),
    then: ['escalate: hard threshold met', 'met memory.available'],
  },
])('$side', ({ departures, then }) => {
  const timeline = new Timeline(policy(thresholds, { departures, maxPodGracePeriodNs: hour }), all);
  timeline.memory(0, 400n);
  expect(timeline.memory(10, 400n)).toEqual(['evict slow grace 3600']);
  expect(timeline.memory(20, 50n, { 1: { processes: 2 } })).toEqual(then);
});

test('a hard threshold ends the grace of a soft eviction also where one eviction at a time is waited for', () => {
  const timeline = new Timeline(policy(thresholds, { departures: without('each-resource'), maxPodGracePeriodNs: hour }), all);
  timeline.memory(0, 400n);
  timeline.memory(10, 400n);
  expect(timeline.memory(20, 100n, { 1: { processes: 2 } })).toEqual([]);
  expect(timeline.memory(30, 99n, { 1: { processes: 2 } })).toEqual(['escalate: hard threshold met']);
});
