import { describe, expect, test } from 'vitest';
import { workloadOfPod } from '../../../src/kubernetes/pod.js';
import { container, podDocument, sidecar } from '../../kubernetes/support.js';
import { containerOomScoreAdj } from './container-oom-score.js';

const GIB = 1024n ** 3n;

describe('oom_score_adj of the containers of a pod', () => {
  const gi = (name: string, amount: number) => container(name, { memory: `${String(amount)}Gi` });
  const scores = (parts: Parameters<typeof podDocument>[0], capacity = 8n * GIB): Readonly<Record<string, number>> => {
    const workload = workloadOfPod(podDocument(parts));
    const { pod } = workload;
    return Object.fromEntries(pod?.containers.map((item) => [item.name, containerOomScoreAdj(workload, pod, item, capacity)]) ?? []);
  };

  test.each<[rule: string, spec: Readonly<Record<string, unknown>>, expected: Readonly<Record<string, number>>]>([
    ['follows the request of each container', { containers: [gi('a', 1), gi('b', 2), container('c')] }, { a: 875, b: 750, c: 999 }],
    ['init containers, too', { containers: [gi('a', 1)], initContainers: [gi('i', 2)] }, { a: 875, i: 750 }],
    [
      'a sidecar is as safe as the least regular container at least',
      { containers: [gi('a', 1), gi('b', 2)], initContainers: [sidecar('s')] },
      { a: 875, b: 750, s: 875 },
    ],
    [
      'of a sidecar follows its own request',
      { containers: [gi('a', 1)], initContainers: [sidecar('s', { memory: '2Gi' })] },
      { a: 875, s: 750 },
    ],
    [
      'shares the pod request that the containers leave, init containers counted',
      { containers: [gi('a', 1), container('b')], initContainers: [container('i')], resources: { requests: { memory: '4Gi' } } },
      { a: 750, b: 875, i: 875 },
    ],
    [
      'a negative share takes away, without an upper bound',
      { containers: [gi('a', 4), container('b')], resources: { requests: { memory: '2Gi' } } },
      { a: 625, b: 1125 },
    ],
    [
      'a pod that asks for cpu alone leaves nothing to share',
      { containers: [gi('a', 1)], resources: { requests: { cpu: '1' } } },
      { a: 875 },
    ],
    ['is unchanged by a pod-level limit alone', { containers: [gi('a', 1)], resources: { limits: { memory: '4Gi' } } }, { a: 875 }],
    ['beyond 8 PiB the product wraps around', { containers: [container('a', { memory: '9300000000000000' })] }, { a: 1064822155 }],
    ['rounds a part of a byte up to one', { containers: [container('a', { memory: '1500m' })] }, { a: 999 }],
  ])('%s', (_rule, spec, expected) => {
    expect(scores({ spec })).toEqual(expected);
  });

  test.each<[rule: string, spec: Readonly<Record<string, unknown>>, metadata: Readonly<Record<string, unknown>>, score: number]>([
    ['critical by class and priority', { priorityClassName: 'system-node-critical', priority: 2000001000 }, {}, -997],
    ['the class alone is not enough', { priorityClassName: 'system-node-critical', priority: 1999999999 }, {}, 1000],
    ['the priority alone is not enough', { priority: 2000001000 }, {}, 1000],
    ['the priority of the cluster alone is not enough', { priorityClassName: 'system-cluster-critical', priority: 2000000000 }, {}, 1000],
    [
      'a static pod of the class',
      { priorityClassName: 'system-node-critical' },
      { annotations: { 'kubernetes.io/config.source': 'file' } },
      -997,
    ],
    ['a static pod without it', {}, { annotations: { 'kubernetes.io/config.source': 'file' } }, 1000],
  ])('%s', (_rule, spec, metadata, score) => {
    expect(scores({ spec, metadata })).toEqual({ app: score });
  });

  test('does not divide by a memory of zero', () => {
    expect(scores({ spec: { containers: [gi('a', 1)] } }, 0n)).toEqual({ a: 999 });
  });
});
