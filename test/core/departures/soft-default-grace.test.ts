import { expect, test } from 'vitest';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * evictionMaxPodGracePeriod below 0: the kubelet takes the smaller of it and the pod's own, which is no time at all. evictd
 * leaves the workload its own.
 */
test.each<[rule: string, ownNs: bigint | undefined, kubelet: string, evictd: string]>([
  ['the workload has a grace period of its own', 60n * SECOND, 'evict batch grace -1', 'evict batch grace 60'],
  ['the workload has none, and gets the default of a pod', undefined, 'evict batch grace -1', 'evict batch grace 30'],
  ['the workload asks for 0', 0n, 'evict batch grace -1', 'evict batch grace 0'],
])('without a limit of the grace period: %s', (_rule, ownNs, kubelet, evictd) => {
  const soft = threshold('memory.available', '200Mi', { graceSeconds: 10 });
  const all = candidates([workload('batch', { terminationGracePeriodNs: ownNs }), 300n * Mi]);
  const outcomes = [without('soft-default-grace'), policy([]).departures].map((departures) => {
    const timeline = new Timeline(policy([soft], { departures, maxPodGracePeriodNs: -SECOND }), all);
    timeline.memory(0, 150n);
    return evicted(timeline.memory(10, 150n));
  });
  expect(outcomes).toEqual([[kubelet], [evictd]]);
});
