import { expect, test } from 'vitest';
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import { Scheduler } from '../../../src/core/scheduling/scheduler.js';
import { documentOf } from '../../../src/kubernetes/document.js';
import { clusterVolumeAt, storageClassAt, volumeClaimAt } from '../../../src/kubernetes/scheduling/cluster-objects.js';
import { schedulerPodAt } from '../../../src/kubernetes/scheduling/scheduler-pod.js';
import { nodeOf, podOf, ZONE } from './scheduling-values.js';

const claim = (name: string, spec: unknown, metadata: unknown = {}): ReturnType<typeof volumeClaimAt> =>
  volumeClaimAt(documentOf({ metadata: { name, namespace: 'shop', ...(metadata as object) }, spec }));
const volume = (name: string, labels: unknown, zone?: string): ReturnType<typeof clusterVolumeAt> => {
  const terms = [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }];
  return clusterVolumeAt(
    documentOf({
      metadata: { name, labels },
      spec: zone === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms: terms } } },
    }),
  );
};

const volumes = {
  claims: new Map([
    claim('in-a', { volumeName: 'pv-a' }),
    claim('labelled', { volumeName: 'pv-labelled' }),
    claim('anywhere', { volumeName: 'pv-anywhere' }),
    claim('lost', { volumeName: 'pv-lost' }),
    claim('later', { storageClassName: 'later' }),
    claim('now', { storageClassName: 'now' }),
    claim('without-class', {}),
    claim('ending', { volumeName: 'pv-a' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    claim('single', { volumeName: 'pv-anywhere', accessModes: ['ReadWriteOncePod'] }),
  ]),
  volumes: new Map([volume('pv-a', {}, 'a'), volume('pv-labelled', { [ZONE]: 'b__c' }), volume('pv-anywhere', {})]),
  immediateClasses: new Set(
    [
      storageClassAt(documentOf({ metadata: { name: 'now' } })),
      storageClassAt(documentOf({ metadata: { name: 'later' }, volumeBindingMode: 'WaitForFirstConsumer' })),
    ].flatMap(([name, isImmediate]) => (isImmediate ? [name] : [])),
  ),
};
const nodes = ['a', 'b'].map((zone) => nodeOf(`in-${zone}`, { labels: new Map([[ZONE, zone]]) }));

test.each<[rule: string, claims: readonly string[], feasible: readonly string[], message: string]>([
  ['a volume with node affinity', ['in-a'], ['in-a'], ''],
  ['a volume with zones in its labels', ['labelled'], ['in-b'], ''],
  ['a volume for all nodes', ['anywhere'], ['in-a', 'in-b'], ''],
  ['a claim that is bound with its pod', ['later'], ['in-a', 'in-b'], ''],
  [
    'volumes in two zones',
    ['in-a', 'labelled'],
    [],
    "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) had no available volume zone.",
  ],
  [
    'a volume that does not exist',
    ['lost'],
    [],
    '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
  ],
  [
    'an unbound claim of a class that binds at once',
    ['now'],
    [],
    '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  ],
  ['an unbound claim without class', ['without-class'], [], '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.'],
  ['no such claim', ['none'], [], '0/2 nodes are available: persistentvolumeclaim "none" not found.'],
  ['a claim that is being deleted', ['ending'], [], '0/2 nodes are available: persistentvolumeclaim "ending" is being deleted.'],
])('%s', (_rule, volumeClaims, feasible, message) => {
  const result = new Scheduler(new Cluster({ nodes, volumes })).schedule(podOf('new', { volumeClaims }), { everyNode: true });
  expect([result.feasible, result.message]).toEqual([feasible, message]);
});

test('a node without a zone may have a volume with zones in its labels', () => {
  const cluster = new Cluster({ nodes: [nodeOf('plain')], volumes });
  expect(new Scheduler(cluster).schedule(podOf('new', { volumeClaims: ['labelled'] })).node).toBe('plain');
});

test('a claim for one pod waits for the pod that uses it, on any node, or preempts it', () => {
  const user = podOf('user', { nodeName: 'in-a', volumeClaims: ['single'] });
  const ofOtherNamespace = podOf('other', { nodeName: 'in-b', namespace: 'bank', volumeClaims: ['single'] });
  const scheduler = new Scheduler(new Cluster({ nodes, volumes, pods: [user, ofOtherNamespace] }));
  const pod = podOf('new', { volumeClaims: ['single'], priority: 5 });
  const result = scheduler.schedule(pod);
  expect(result.message).toBe(
    '0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.',
  );
  expect(scheduler.preempt(pod, result, []).candidate).toMatchObject({ node: 'in-a', victims: [user] });
  scheduler.cluster.remove(user);
  expect(scheduler.schedule(pod).node).toBeDefined();
});

test('claims do not count in a cluster whose volumes are not known', () => {
  expect(new Scheduler(new Cluster({ nodes })).schedule(podOf('new', { volumeClaims: ['none'] })).node).toBeDefined();
});

test('the claims of a pod: those that it names, and those of its ephemeral volumes', () => {
  const spec = {
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } },
      { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } },
      { name: 'cache', emptyDir: {} },
    ],
  };
  expect(schedulerPodAt(documentOf({ metadata: { name: 'web-0' }, spec })).volumeClaims).toEqual(['data-web-0', 'web-0-scratch']);
});
