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
    'a disk that only one pod of a node may use',
    pod('a-1', 'node-1', { volumes: [{ name: 'data', awsElasticBlockStore: { volumeID: 'vol-1' } }] }),
    'warning: Pod shop/a-1: spec.volumes: evictd ignores whether a disk of awsElasticBlockStore is in use on another node',
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
  ...(
    [
      [{ operator: 'Inn', values: ['a'] }, 'operator is "Inn": one of In, NotIn, Exists, DoesNotExist is expected: it selects nothing'],
      [{ operator: 'Gt', values: ['1'] }, 'operator is "Gt": one of In, NotIn, Exists, DoesNotExist is expected'],
      [{ operator: 'In' }, 'values: In takes at least one value: it selects nothing'],
      [{ operator: 'Exists', values: ['a'] }, 'values: Exists takes no value: it selects nothing'],
    ] as const
  ).map(([requirement, problem]): [string, ReturnType<typeof pod>, string] => [
    `a requirement that the API server refuses (${problem})`,
    pod('a-1', '', {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              podAffinityTerm: {
                topologyKey: 'kubernetes.io/hostname',
                labelSelector: { matchExpressions: [{ key: 'app', ...requirement }] },
              },
            },
          ],
        },
      },
    }),
    'warning: Pod shop/a-1: spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.' +
      `labelSelector.matchExpressions[0].${problem}`,
  ]),
  [
    'a requirement of a node that the API server refuses',
    pod('a-1', '', {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['many'] }] } },
          ],
        },
      },
    }),
    'warning: Pod shop/a-1: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].' +
      'values: Gt takes one integer, as text: it selects nothing',
  ],
  [
    'a field of a node that cannot be compared so',
    pod('a-1', '', required('nodeAffinity', { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'Exists' }] }] })),
    'warning: Pod shop/a-1: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].' +
      'operator is "Exists": one of In, NotIn is expected',
  ],
  [
    'a budget whose selector the API server refuses',
    { ...budget('web', 1, 1), spec: { minAvailable: 1, selector: { matchExpressions: [{ key: 'app', operator: 'in', values: ['a'] }] } } },
    'warning: PodDisruptionBudget shop/web: spec.selector.matchExpressions[0].operator is "in": one of In, NotIn',
  ],
  ...(
    [
      [
        { tolerations: [{ key: 'a', operator: 'Exist' }] },
        'tolerations[0].operator is "Exist": one of Exists, Equal, Gt, Lt is expected: it tolerates nothing',
      ],
      [{ tolerations: [{ effect: 'NoExec' }] }, 'tolerations[0].effect is "NoExec": one of NoSchedule, PreferNoSchedule, NoExecute is'],
      [
        { topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'Schedule' }] },
        'topologySpreadConstraints[0].whenUnsatisfiable is "Schedule": one of DoNotSchedule, ScheduleAnyway is expected: it counts as DoNot',
      ],
    ] as const
  ).map(([spec, problem]): [string, ApiObject, string] => [
    `a value that the API server refuses (${problem})`,
    pod('a-1', '', spec),
    `warning: Pod shop/a-1: spec.${problem}`,
  ]),
  [
    'a taint without a known effect',
    { ...node('node-2'), spec: { taints: [{ key: 'a', effect: 'NoExec' }] } },
    'warning: Node node-2: spec.taints[0].effect is "NoExec": one of NoSchedule, PreferNoSchedule, NoExecute is expected: it repels no pod',
  ],
  ['a list without items', { apiVersion: 'v1', kind: 'PodList', metadata: {} }, 'error: PodList ?: has no items'],
  [
    'an object without a name',
    { apiVersion: 'v1', kind: 'PersistentVolume' },
    'error: PersistentVolume: metadata.name is missing: a name is expected',
  ],
  ['a negative amount', pod('a-1', '', { cpu: '-1' }), 'error: Pod shop/a-1: spec.containers: the requests of cpu are negative'],
  [
    'a requirement of a node without values, once',
    pod('a-1', '', required('nodeAffinity', { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In' }] }] })),
    'warning: Pod shop/a-1: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].' +
      'matchExpressions[0].values: In takes at least one value: it selects nothing',
  ],
  ['a node that is in no file', pod('a-1', 'node-9'), 'warning: Pod shop/a-1: its node node-9 is not in the input: counts as pending'],
])('%s is a finding, and the simulation continues', (_rule, object, finding) => {
  const { findings, content } = dumped([node('node-1'), object, pod('b-1', 'node-1')]);
  expect(findings.list.map(findingText)).toHaveLength(1);
  expect(findings.list.map(findingText)[0]).toContain(`dump:2:1: ${finding}`);
  expect(content.pods.map(({ scheduling }) => scheduling.name)).toContain('b-1');
});

test('a pod that must run with its own kind, or with pods of selected namespaces, is not a finding', () => {
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
