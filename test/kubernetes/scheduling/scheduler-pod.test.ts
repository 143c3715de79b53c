import { expect, test } from 'vitest';
import { selects } from '../../../src/core/scheduling/label-selector.js';
import { documentOf } from '../../../src/kubernetes/document.js';
import { schedulerNodeAt } from '../../../src/kubernetes/scheduling/scheduler-node.js';
import { schedulerPodAt } from '../../../src/kubernetes/scheduling/scheduler-pod.js';

const ALL = { action: 'RestartAllContainers' };
const RESTARTS_ALL = 'RestartAllContainersOnContainerExits';

const podAt = (spec: unknown, labels: Readonly<Record<string, string>> = {}): ReturnType<typeof schedulerPodAt> =>
  schedulerPodAt(documentOf({ metadata: { name: 'web-0', namespace: 'shop', labels }, spec }));

test('matchLabelKeys and mismatchLabelKeys of an affinity term stand for the values of the pod', () => {
  const term = {
    labelSelector: { matchLabels: { app: 'web' } },
    matchLabelKeys: ['hash', 'missing'],
    mismatchLabelKeys: ['tenant'],
    topologyKey: 'zone',
  };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const [read] = podAt({ affinity }, { app: 'web', hash: 'a1', tenant: 'blue' }).podAffinity.required;
  const labels = { app: 'web', hash: 'a1', tenant: 'red' };
  const selected = (changes: Readonly<Record<string, string>>): boolean =>
    selects(read?.selector, new Map(Object.entries({ ...labels, ...changes })));
  expect([selected({}), selected({ hash: 'b2' }), selected({ tenant: 'blue' }), selected({ app: 'db' })]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('matchLabelKeys of a spread constraint stand for the values of the pod', () => {
  const topologySpreadConstraints = [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, matchLabelKeys: ['hash', 'missing'] },
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', matchLabelKeys: ['hash'] },
  ];
  const [constraint, withoutSelector] = podAt({ topologySpreadConstraints }, { hash: 'a1' }).spreadConstraints;
  expect(constraint?.selector?.requirements).toEqual([{ key: 'hash', operator: 'In', values: ['a1'] }]);
  expect(withoutSelector?.selector).toBeUndefined();
});

test.each([
  ['web', 'web:latest'],
  ['web:1', 'web:1'],
  ['registry.example:5000/web', 'registry.example:5000/web:latest'],
  ['web@sha256:0a', 'web@sha256:0a'],
])('the image %s has the name %s', (image, name) => {
  expect(podAt({ containers: [{ image }] }).images).toEqual([name]);
});

test('images of init containers and of volumes count', () => {
  const spec = {
    initContainers: [{ image: 'init:1' }],
    containers: [{ image: 'web:1' }],
    volumes: [
      { name: 'a', emptyDir: {} },
      { name: 'b', image: { reference: 'data:1' } },
    ],
  };
  expect(podAt(spec).images).toEqual(['init:1', 'web:1', 'data:1']);
});

test('ports of init containers count only for sidecars', () => {
  const ports = [{ hostPort: 80 }, { containerPort: 9 }];
  const spec = {
    containers: [{ ports }],
    initContainers: [
      { ports: [{ hostPort: 81 }] },
      { restartPolicy: 'Always', ports: [{ hostPort: 82, hostIP: '10.0.0.1', protocol: 'UDP' }] },
    ],
  };
  expect(podAt(spec).hostPorts).toEqual([
    { address: '0.0.0.0', protocol: 'TCP', port: 80 },
    { address: '10.0.0.1', protocol: 'UDP', port: 82 },
  ]);
});

test('the first size counts if a node lists an image twice under one name', () => {
  const images = [
    { names: ['web:1', 'web:2'], sizeBytes: 1 },
    { names: ['web:1'], sizeBytes: 2 },
  ];
  const node = schedulerNodeAt(documentOf({ metadata: { name: 'n' }, status: { images } }));
  expect(Object.fromEntries(node.images)).toEqual({ 'web:1': 1, 'web:2': 1 });
});

test.each([
  ['a rule that restarts all containers', { containers: [{ restartPolicyRules: [{ action: 'Restart' }, ALL] }] }, [RESTARTS_ALL]],
  ['such a rule of an init container', { initContainers: [{ restartPolicyRules: [ALL] }] }, [RESTARTS_ALL]],
  ['another restart rule', { containers: [{ restartPolicyRules: [{ action: 'Restart' }] }] }, []],
  ["hostUsers: false in the host's network", { hostNetwork: true, hostUsers: false }, ['UserNamespacesHostNetworkSupport']],
  ['hostUsers: false', { hostUsers: false }, []],
  ["the host's users and network", { hostNetwork: true, hostUsers: true }, []],
  ["the host's network", { hostNetwork: true }, []],
])('the node features that a pod requires: %s', (_rule, spec, features) => {
  expect(podAt(spec).requiredFeatures).toEqual(features);
});

const cpu = (amount: string): unknown => ({ requests: { cpu: amount } });
const reported = (actual: string, allocatedResources?: unknown): object => ({ name: 'c', resources: cpu(actual), allocatedResources });
const INFEASIBLE = { conditions: [{ type: 'PodResizePending', reason: 'Infeasible' }] };

test.each<[rule: string, spec: object, status: object, booked: bigint, scored: bigint]>([
  [
    'the container still has more',
    { containers: [{ name: 'c', resources: cpu('1') }] },
    { containerStatuses: [reported('3')] },
    3000n,
    1000n,
  ],
  ['a sidecar still has more', init('Always'), { initContainerStatuses: [reported('3')] }, 3000n, 1000n],
  ['an init container is never resized', init(undefined), { initContainerStatuses: [reported('3')] }, 1000n, 1000n],
  ['the pod still has more', { resources: cpu('1') }, reported('2', { cpu: '4' }), 4000n, 0n],
  ['the pod cannot be resized', { resources: cpu('5') }, { ...reported('2'), ...INFEASIBLE }, 2000n, 0n],
  ['of the pod resources only those in its spec count', { resources: { requests: { memory: '1' } } }, reported('2'), 0n, 0n],
])('a pod that is being resized books the larger request: %s', (_rule, spec, status, booked, scored) => {
  const { requests, scoredRequests } = schedulerPodAt(documentOf({ metadata: { name: 'web-0' }, spec, status }));
  expect([requests.get('cpu') ?? 0n, scoredRequests.get('cpu') ?? 0n]).toEqual([booked, scored]);
});

function init(restartPolicy: string | undefined): object {
  return { initContainers: [{ name: 'c', restartPolicy, resources: cpu('1') }] };
}

test('the features that a node declares are read', () => {
  const { declaredFeatures } = schedulerNodeAt(documentOf({ metadata: { name: 'n' }, status: { declaredFeatures: [RESTARTS_ALL] } }));
  expect([...declaredFeatures]).toEqual([RESTARTS_ALL]);
});
