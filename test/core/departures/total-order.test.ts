import { expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { byRank, rank } from '../../../src/core/rank/rank.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { pod } from '../usage.js';

/** Three replicas, each with the same request and, just after a rollout, the same usage. */
const replica = (name: string, startOrder: bigint, id = `uid-${name}`): WorkloadUsage =>
  pod(name, { id, startOrder, requests: { memory: 100n }, stats: { workingSetBytes: 200n } });
const replicas = [replica('web-b', 8n), replica('web-c', 9n), replica('web-a', 8n)];

const order = (on: boolean, usages: readonly WorkloadUsage[]): string[] =>
  rank('memory.available', 'single', usages, { ...departuresOf('kubelet'), 'total-order': on }).map(({ workload }) => workload.id);

test('workloads that the kubelet ranks as equal: its victim is the one that its sort leaves in front', () => {
  const departures = departuresOf('kubelet');
  const [a, b] = rank('memory.available', 'single', replicas, departures);
  expect(a && b && byRank('memory.available', 'single', departures)(a, b)).toBe(0);
  expect(order(false, replicas)).not.toEqual(order(false, replicas.toReversed()));
});

test('with total-order the youngest goes first, then by name: the same whatever the order of the readings', () => {
  expect(order(true, replicas)).toEqual(['uid-web-c', 'uid-web-a', 'uid-web-b']);
  expect(order(true, replicas.toReversed())).toEqual(['uid-web-c', 'uid-web-a', 'uid-web-b']);
});

test('workloads of one name in two namespaces are sorted by id', () => {
  const twins = [replica('web', 1n, 'uid-2'), replica('web', 1n, 'uid-1')];
  expect(order(true, twins)).toEqual(['uid-1', 'uid-2']);
});

test('workloads of which nothing is known have a total order, too', () => {
  const unknown = [pod('old', { startOrder: 1n, stats: null }), pod('young', { startOrder: 2n, stats: null })];
  expect(order(true, unknown)).toEqual(['uid-young', 'uid-old']);
});
