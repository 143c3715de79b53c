import { expect, test } from 'vitest';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * Kubernetes' documents promise that a hard eviction gives no grace; its code gives 1 s, in which a process fills 2 GB
 * more.
 */
test.each([
  { side: 'kubelet', departures: without('hard-grace'), graceSeconds: '1' },
  { side: 'evictd', departures: policy([]).departures, graceSeconds: '0' },
])('$side gives $graceSeconds s, whatever the workload asks for', ({ departures, graceSeconds }) => {
  const all = candidates([workload('batch', { terminationGracePeriodNs: 60n * SECOND }), 300n * Mi]);
  const timeline = new Timeline(policy([threshold('memory.available', '100Mi')], { departures }), all);
  expect(evicted(timeline.memory(0, 50n))).toEqual([`evict batch grace ${graceSeconds}`]);
  expect(timeline.memory(0.9, 50n, { 1: { processes: 1 } })).toEqual([]); // the threshold is still met, and the second is not over
});
