import { expect, test } from 'vitest';
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import { amountsOf } from '../../../src/core/scheduling/node-fit.js';
import { PodSelectors } from '../../../src/core/scheduling/cluster/default-selector.js';
import { kubeletAdmits } from '../../../src/core/scheduling/placement.js';
import { matchesRequiredNodeAffinity } from '../../../src/core/scheduling/node-affinity.js';
import { Scheduler } from '../../../src/core/scheduling/scheduler.js';
import type { SpreadConstraint } from '../../../src/core/scheduling/scheduler-pod.js';
import { DEFAULT_PROFILE, DEFAULT_SCHEDULER } from '../../../src/core/scheduling/scheduler-profile.js';
import { HOST, nodeOf, podOf, selectorOf, ZONE } from './scheduling-values.js';

test.each([
  ['an extended resource that is ignored', 'example.com/gpu', 'n0'],
  ['an extended resource of an ignored group', 'ignored.example/nic', 'n0'],
  ["Kubernetes' own resources are never ignored", 'kubernetes.io/batch', undefined],
  ['another extended resource', 'other.example/gpu', undefined],
])('%s', (_rule, resource, node) => {
  const profile = {
    ...DEFAULT_PROFILE,
    ignoredResources: ['example.com/gpu', 'kubernetes.io/batch'],
    ignoredResourceGroups: ['ignored.example', 'kubernetes.io'],
  };
  const pod = podOf('new', { requests: new Map([[resource, 1n]]) });
  expect(
    new Scheduler(new Cluster({ nodes: [nodeOf('n0')] }), { profiles: new Map([[DEFAULT_SCHEDULER, profile]]) }).schedule(pod).node,
  ).toBe(node);
});

test.each([
  ['an unqualified name', 'foo', 'n0'],
  ['a name that a quota may have', 'requests.example.com/gpu', 'n0'],
  ['a name that is not qualified', 'example.com/_gpu', 'n0'],
  ['pods', 'pods', 'n0'],
  ['a resource of Kubernetes with a prefix', 'kubernetes.io/batch', undefined],
  ['huge pages', 'hugepages-2Mi', undefined],
  ['volumes', 'attachable-volumes-csi', undefined],
  ['an extended resource', 'example.com/gpu', undefined],
])('a request for %s counts only if the scheduler has a place for it', (_rule, resource, node) => {
  const pod = podOf('new', { requests: amountsOf(new Map([[resource, parseQuantity('1000')]])) });
  expect(new Scheduler(new Cluster({ nodes: [nodeOf('n0')] })).schedule(pod).node).toBe(node);
});

test.each<[rule: string, operator: string, values: readonly string[], label: string | undefined, matches: boolean]>([
  ['NotIn: a node without the label matches', 'NotIn', ['8'], undefined, true],
  ['NotIn: one of the values', 'NotIn', ['8', '16'], '8', false],
  ['Gt: strictly above', 'Gt', ['8'], '8', false],
  ['Gt: as numbers, not as text', 'Gt', ['8'], '16', true],
  ['Gt: leading zeros and signs are read', 'Gt', ['+008'], '009', true],
  ['Lt: a value that is not a number does not match', 'Lt', ['8'], 'few', false],
  ['Lt: a node without the label does not match', 'Lt', ['8'], undefined, false],
  ['Lt takes one value', 'Lt', ['8', '9'], '1', false],
  ['Lt: no more than 64 bits', 'Lt', ['9223372036854775808'], '1', false],
  ['Exists takes no values', 'Exists', ['8'], '8', false],
  ['In takes at least one value', 'In', [], '8', false],
])('node affinity, %s', (_rule, operator, values, label, matches) => {
  const labels = new Map(label === undefined ? [] : [['cores', label]]);
  const terms = [{ expressions: [{ key: 'cores', operator, values }], fields: [] }];
  expect(matchesRequiredNodeAffinity({ labels: new Map(), terms }, { name: 'n0', labels })).toBe(matches);
});

test('a required node affinity without terms matches no node, and so does a term without requirements', () => {
  const match = (terms: readonly { readonly expressions: []; readonly fields: [] }[]): boolean =>
    matchesRequiredNodeAffinity({ labels: new Map(), terms }, nodeOf('n0'));
  expect([match([]), match([{ expressions: [], fields: [] }])]).toEqual([false, false]);
});

test('a preferred term without requirements gives no points, but the plugin still scores', () => {
  const pod = podOf('new', { preferredNodeTerms: [{ weight: 5, term: { expressions: [], fields: [] } }] });
  const { scores } = new Scheduler(new Cluster({ nodes: [nodeOf('n0')] })).schedule(pod, { everyNode: true });
  expect(scores?.get('n0')?.get('NodeAffinity')).toBe(0);
});

test.each([
  ['the same port at another address is free', '10.0.0.1', '10.0.0.2', 'TCP', 'n0'],
  ['the same address', '10.0.0.1', '10.0.0.1', 'TCP', undefined],
  ['the port is taken on all addresses', '0.0.0.0', '10.0.0.2', 'TCP', undefined],
  ['the port is requested on all addresses', '10.0.0.1', '0.0.0.0', 'TCP', undefined],
  ['the port is taken for another protocol', '0.0.0.0', '0.0.0.0', 'UDP', 'n0'],
])('host ports: %s', (_rule, taken, wanted, protocol, node) => {
  const running = podOf('running', { nodeName: 'n0', hostPorts: [{ address: taken, protocol: 'TCP', port: 80 }] });
  const pod = podOf('new', { hostPorts: [{ address: wanted, protocol, port: 80 }] });
  expect(new Scheduler(new Cluster({ nodes: [nodeOf('n0')], pods: [running] })).schedule(pod).node).toBe(node);
});

test('a pod runs only on nodes that declare the features it requires', () => {
  const declaring = (name: string, ...features: readonly string[]): ReturnType<typeof nodeOf> =>
    nodeOf(name, { declaredFeatures: new Set(features) });
  const cluster = new Cluster({ nodes: [declaring('n0'), declaring('n1', 'Restart'), declaring('n2', 'Other', 'Restart', 'Users')] });
  const scheduler = new Scheduler(cluster);
  const { feasible, rejected } = scheduler.schedule(podOf('new', { requiredFeatures: ['Restart', 'Users'] }));
  const rejection = { plugin: 'NodeDeclaredFeatures', code: 'UnschedulableAndUnresolvable', reasons: [NO_FEATURE] };
  expect([feasible, Object.fromEntries(rejected)]).toEqual([['n2'], { n0: rejection, n1: rejection }]);
  expect(scheduler.schedule(podOf('new')).feasible).toEqual(['n0', 'n1', 'n2']);
});

test.each<[rule: string, changes: Parameters<typeof podOf>[1], reasons: readonly string[] | undefined]>([
  ['an extended resource that the node does not know', { requests: new Map([['example.com/gpu', 1n]]) }, undefined],
  ['huge pages that it does not have', { requests: new Map([['hugepages-2Mi', 1n]]) }, ['Insufficient hugepages-2Mi']],
  ['more of a resource than the node has', { requests: new Map([['example.com/nic', 2n]]) }, ['Insufficient example.com/nic']],
  [
    'more cpu than the node has, and the name of another node',
    { requests: new Map([['cpu', 1_001n]]), nodeName: 'n9' },
    ['Insufficient cpu'],
  ],
  ['the name of another node', { nodeName: 'n9' }, ["node(s) didn't match the requested node name"]],
])("the kubelet's admission of a pod with %s", (_rule, changes, reasons) => {
  const { allocatable } = nodeOf('n0');
  const cluster = new Cluster({ nodes: [nodeOf('n0', { allocatable: new Map([...allocatable, ['example.com/nic', 1n]]) })] });
  const admitted = cluster.nodes.map((state) => kubeletAdmits(podOf('new', changes), cluster, state)?.reasons);
  expect(admitted).toEqual([reasons]);
});

test.each([
  ['NoExecute', '', ["node(s) had taints that the pod didn't tolerate"]],
  ['NoExecute', 'NoExecute', undefined],
  ['NoSchedule', '', undefined],
  ['PreferNoSchedule', '', undefined],
] as const)('the kubelet\'s admission at a taint with %s; the pod tolerates "%s"', (effect, tolerated, reasons) => {
  const cluster = new Cluster({ nodes: [nodeOf('n0', { taints: [{ key: 'gone', value: '', effect }] })] });
  const tolerations = tolerated === '' ? [] : [{ key: '', operator: 'Exists', value: '', effect: tolerated }];
  expect(cluster.nodes.map((state) => kubeletAdmits(podOf('new', { tolerations }), cluster, state)?.reasons)).toEqual([reasons]);
});

test.each([
  ['apps/v1', 'ReplicaSet', true],
  ['apps.example.com/v1', 'ReplicaSet', false],
  ['v1', 'ReplicationController', true],
  ['apps/v1', 'ReplicationController', false],
  ['apps/v1', 'StatefulSet', false],
])('by default pods of a controller %s %s are spread: %s', (apiVersion, kind, isSpread) => {
  const selector = selectorOf('app', 'In', 'web');
  const owners = (['ReplicaSet', 'ReplicationController'] as const).map((each) => ({
    kind: each,
    namespace: 'shop',
    name: 'web',
    selector,
  }));
  const selectors = new PodSelectors([], owners);
  expect(selectors.of(podOf('web-1', { controller: { apiVersion, kind, name: 'web' } }))).toEqual(isSpread ? selector : undefined);
});

test('a namespace selector of the pod finds the known namespaces, and that of a pod on a node matches unknown ones, too', () => {
  const term = {
    selector: { requirements: [] },
    namespaces: [],
    namespaceSelector: selectorOf('team', 'DoesNotExist'),
    topologyKey: HOST,
  };
  const apart = { required: [term], preferred: [] };
  const running = podOf('running', { nodeName: 'n0', namespace: 'ghost' });
  const reject = (pods: Parameters<typeof podOf>[1], own: Parameters<typeof podOf>[1]): string =>
    new Scheduler(new Cluster({ nodes: [nodeOf('n0')], pods: [{ ...running, ...pods }] })).schedule(podOf('new', own)).message;
  expect(reject({}, { podAntiAffinity: apart })).toBe('');
  expect(reject({ podAntiAffinity: apart }, { namespace: 'spirit' })).toMatch(/existing pods anti-affinity/);
});

const NO_FEATURE = "node(s) didn't match Pod's required features";
const NO_ROOM = "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match pod topology spread constraints.";

test.each([
  ['a node with honoured taints is not a domain', true, 2, ''],
  ['a node is a domain whatever its taints', false, 1, NO_ROOM],
  ['fewer domains than minDomains: the least is 0', true, 3, NO_ROOM],
])('spread: %s', (_rule, honorsTaints, minDomains, message) => {
  const labelsOf = (name: string, zone: string): ReadonlyMap<string, string> => new Map(Object.entries({ [HOST]: name, [ZONE]: zone }));
  const nodes = [
    nodeOf('n0', { labels: labelsOf('n0', 'a') }),
    nodeOf('n1', { labels: labelsOf('n1', 'b') }),
    nodeOf('n2', { labels: labelsOf('n2', 'c'), taints: [{ key: 'dedicated', value: '', effect: 'NoSchedule' }] }),
  ];
  const labels = new Map([['app', 'web']]);
  const constraint: SpreadConstraint = {
    ...{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, minDomains },
    ...{ selector: selectorOf('app', 'In', 'web'), honorsAffinity: true, honorsTaints },
  };
  const pods = ['n0', 'n1'].map((nodeName) => podOf(nodeName, { nodeName, labels }));
  const pod = podOf('new', { labels, spreadConstraints: [constraint] });
  expect(new Scheduler(new Cluster({ nodes, pods })).schedule(pod).message).toBe(message);
});
