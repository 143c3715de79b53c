import { expect, test } from 'vitest';
import { formatJson, parseJson, type Json } from '../../src/kubernetes/json.js';
import { nodePodOf, shortPod } from '../../src/kubernetes/node-pod-document.js';
import { aPod } from '../support/kubernetes/a-pod.js';

const MIRROR = { 'kubernetes.io/config.mirror': 'h', 'kubernetes.io/config.hash': 'h' };
const OF_NODE = [{ kind: 'Node', name: 'node-1', controller: true }];
const read = (more?: Parameters<typeof aPod>[1]) => nodePodOf(aPod('web', more) as unknown as Json);

test('a shortened pod reads the same, is much shorter, and keeps integers of 64 bits', () => {
  const volumes = ['hostPath', 'configMap', 'emptyDir'].map((kind) => ({ name: kind, [kind]: { path: '/a', sizeLimit: '1Gi' } }));
  const tolerations = [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 }];
  const owner = { kind: 'ReplicaSet', name: 'web-1', uid: 'u', controller: true };
  const more = { metadata: { ownerReferences: [owner] }, spec: { volumes, tolerations, overhead: { memory: '1Mi' } } };
  const text = JSON.stringify(aPod('web', more)).replace('"tolerationSeconds":9', '"tolerationSeconds":9223372036854775807');
  const whole = parseJson(text);
  const short = formatJson(shortPod(whole));
  expect(nodePodOf(parseJson(short))).toEqual(nodePodOf(whole));
  expect(nodePodOf(whole).workload.pod?.tolerations[0]?.tolerationSeconds).toBe(9223372036854775807n);
  expect(short).not.toMatch(/managedFields|image|env|containerStatuses/);
});

test.each<[rule: string, more: Parameters<typeof aPod>[1], expected: object]>([
  ['an ordinary pod', {}, { uid: 'uid-web', cgroupUid: 'uid-web', phase: 'Running', restartPolicy: 'Always' }],
  [
    'the cgroup of a static pod has the uid of its manifest, not that of its mirror pod',
    { metadata: { annotations: MIRROR, ownerReferences: OF_NODE } },
    { uid: 'uid-web', cgroupUid: 'h', workload: { protection: { kind: 'static' } } },
  ],
  [
    'another uid in the annotation counts only for a mirror pod',
    { metadata: { annotations: { 'kubernetes.io/config.hash': 'h' } } },
    { cgroupUid: 'uid-web' },
  ],
  [
    'a pod with the annotation of a static pod is not one, because a user can write that',
    { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } },
    { workload: { protection: undefined } },
  ],
  [
    'a mirror pod that no node owns is an ordinary pod',
    { metadata: { annotations: MIRROR } },
    { cgroupUid: 'uid-web', workload: { protection: undefined } },
  ],
  ['a critical pod', { spec: { priority: 2_000_000_000 } }, { workload: { protection: { kind: 'critical' } } }],
  [
    'a pod that is being deleted',
    { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z', deletionGracePeriodSeconds: 7 } },
    { deletionSeconds: 7 },
  ],
  [
    'the owner of the pod is its controller',
    {
      metadata: {
        ownerReferences: [
          { kind: 'A', name: 'a' },
          { kind: 'Job', name: 'j', controller: true },
        ],
      },
    },
    { owner: { kind: 'Job', name: 'j' } },
  ],
])('%s', (_rule, more, expected) => {
  expect(read(more)).toMatchObject(expected);
});
