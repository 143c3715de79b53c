import { expect, test } from 'vitest';
import { findingText } from '../../../src/features/kubernetes/cluster/finding.js';
import type { ApiObject } from '../../support/cluster/generated-cluster.js';
import { budget, dumped, node, pod } from './support.js';

const without = (object: ApiObject, key: string): ApiObject => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

const required = (kind: string, rules: unknown): ApiObject => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: rules } },
});

test.each<[rule: string, object: ApiObject, finding: string]>([
  [
    'an unknown kind',
    { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'w' } },
    'error: Widget w: the kind Widget (v1) is unknown: it is left out',
  ],
  [
    'an unknown version',
    { ...budget('web', 1, 1), apiVersion: 'policy/v1beta1' },
    'error: PodDisruptionBudget shop/web: apiVersion "policy/v1beta1" is unknown: policy/v1 is expected',
  ],
  [
    'a node without a status',
    without(node('n'), 'status'),
    'error: Node n: status.allocatable is missing: what the node has for pods is expected',
  ],
  ['a pod without a status', without(pod('a-1', 'node-1'), 'status'), 'warning: Pod shop/a-1: has no status: counts as running and ready'],
  [
    'a budget without a status',
    without(budget('web', 1, 1), 'status'),
    'warning: PodDisruptionBudget shop/web: has no status: allows no eviction, as for the API server',
  ],
  [
    'an amount that does not parse',
    pod('a-1', 'node-1', { cpu: 'much' }),
    'error: Pod shop/a-1: spec.containers[0].resources.requests.cpu: "much": ',
  ],
  [
    'a label that no node has',
    pod('a-1', '', { nodeSelector: { disk: 'ssd' } }),
    'warning: Pod shop/a-1: spec.nodeSelector: no node has the label disk=ssd',
  ],
  [
    'a disk that one pod of a node may have',
    pod('a-1', 'node-1', { volumes: [{ name: 'data', awsElasticBlockStore: { volumeID: 'vol-1' } }] }),
    'warning: Pod shop/a-1: spec.volumes: that a disk of awsElasticBlockStore is in use on a node is not simulated',
  ],
  [
    'a label that no node has, whatever its value',
    pod('a-1', '', required('nodeAffinity', { nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }] })),
    'warning: Pod shop/a-1: spec.affinity.nodeAffinity: no node has the label gpu',
  ],
  [
    'labels that no pod has',
    pod('a-1', '', required('podAffinity', [{ labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: 'kubernetes.io/hostname' }])),
    'warning: Pod shop/a-1: spec.affinity.podAffinity: no pod has the labels app In cache',
  ],
  ['a list without items', { apiVersion: 'v1', kind: 'PodList', metadata: {} }, 'error: PodList ?: has no items'],
  [
    'an object without a name',
    { apiVersion: 'v1', kind: 'PersistentVolume' },
    'error: PersistentVolume: metadata.name is missing: a name is expected',
  ],
  ['a node that is in no file', pod('a-1', 'node-9'), 'warning: Pod shop/a-1: its node node-9 is in no file: counts as pending'],
])('%s is named, and the rest goes on', (_rule, object, finding) => {
  const { findings, content } = dumped([node('node-1'), object, pod('b-1', 'node-1')]);
  expect(findings.list.map(findingText)).toHaveLength(1);
  expect(findings.list.map(findingText)[0]).toContain(`dump:2:1: ${finding}`);
  expect(content.pods.map(({ scheduling }) => scheduling.name)).toContain('b-1');
});

test('pods that want to be with their own kind, or with pods of selected namespaces, are no finding', () => {
  const term = (app: string, more: object = {}): object => ({
    labelSelector: { matchLabels: { app } },
    topologyKey: 'kubernetes.io/hostname',
    ...more,
  });
  const pods = [term('a'), term('b', { namespaces: ['shop'] }), term('none', { namespaceSelector: {} })].map((each) =>
    pod('a-1', '', required('podAffinity', [each])),
  );
  for (const each of pods) expect(dumped([node('node-1'), pod('b-1', 'node-1'), each]).findings.list).toEqual([]);
});

test('pods of one controller with the same problem are one finding', () => {
  const { findings } = dumped([node('node-1'), ...['a-1', 'a-2', 'a-3'].map((name) => pod(name, '', { nodeSelector: { disk: 'ssd' } }))]);
  expect(findings.list.map(findingText)).toEqual([
    'dump:2:1: warning: Pod shop/a-1 (and 2 more): spec.nodeSelector: no node has the label disk=ssd',
  ]);
});
