import { describe, expect, test } from 'vitest';
import type { ClusterVolumes, PodVolume } from '../../../src/core/volumes/cluster-volumes.js';
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import type { SchedulerPod } from '../../../src/core/scheduling/scheduler-pod.js';
import { Scheduler } from '../../../src/core/scheduling/scheduler.js';
import { documentOf } from '../../../src/kubernetes/document.js';
import { podVolumesAt } from '../../../src/kubernetes/volumes/volume-claim.js';
import { VolumeObjects } from '../../../src/kubernetes/volumes/volume-objects.js';
import { nodeOf, podOf, ZONE } from './scheduling-values.js';

type Value = Readonly<Record<string, unknown>>;
type Written = readonly [kind: string, object: Value];

const RWO = { accessModes: ['ReadWriteOnce'] };
const size = (storage: string) => ({ resources: { requests: { storage } } });

const claim = (name: string, spec: Value, metadata: Value = {}, status: Value = {}): Written => [
  'PersistentVolumeClaim',
  { metadata: { name, namespace: 'shop', ...metadata }, spec, status },
];
const volume = (name: string, spec: Value = {}, labels: Value = {}): Written => ['PersistentVolume', { metadata: { name, labels }, spec }];
const inZone = (zone: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }] } },
});
const storageClass = (name: string, more: Value = {}): Written => [
  'StorageClass',
  { metadata: { name }, provisioner: 'disk.example.com', volumeBindingMode: 'WaitForFirstConsumer', ...more },
];

const COMMON: readonly Written[] = [
  storageClass('later'),
  storageClass('now', { volumeBindingMode: 'Immediate' }),
  storageClass('local', { provisioner: 'kubernetes.io/no-provisioner' }),
  storageClass('zonal', { allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ['b', 'c'] }] }] }),
  storageClass('measured', { provisioner: 'measured.example.com' }),
  ['CSIDriver', { metadata: { name: 'measured.example.com' }, spec: { storageCapacity: true } }],
  ...(
    [
      ['a', { capacity: '100Gi', maximumVolumeSize: '10Gi' }],
      ['b', { capacity: '50Gi' }],
    ] as const
  ).map(([zone, amounts]): Written => {
    const nodeTopology = { matchLabels: { [ZONE]: zone } };
    return ['CSIStorageCapacity', { metadata: { name: zone }, storageClassName: 'measured', nodeTopology, ...amounts }];
  }),
  volume('pv-a', inZone('a')),
  volume('pv-anywhere'),
];

function volumesOf(...more: readonly Written[]): ClusterVolumes | undefined {
  const objects = new VolumeObjects();
  for (const [kind, object] of [...COMMON, ...more]) objects.take(kind, documentOf(object));
  return objects.volumes();
}

const nodes = ['a', 'b'].map((zone) => nodeOf(`in-${zone}`, { labels: new Map([[ZONE, zone]]) }));
const named = (...claims: readonly string[]): readonly PodVolume[] => claims.map((name) => ({ kind: 'claim', claim: name }));
const UNBOUND = '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
const NO_ROOM = (count: number): string =>
  `0/2 nodes are available: ${String(count)} node(s) didn't find available persistent volumes to bind.`;

describe('a pod with claims fits where its volumes are or can be', () => {
  test.each<[rule: string, claims: readonly string[], objects: readonly Written[], feasible: readonly string[], message: string]>([
    ['a volume with node affinity', ['in-a'], [claim('in-a', { volumeName: 'pv-a' })], ['in-a'], ''],
    ['a volume for all nodes', ['all'], [claim('all', { volumeName: 'pv-anywhere' })], ['in-a', 'in-b'], ''],
    [
      'a volume with zones in its labels',
      ['labelled'],
      [claim('labelled', { volumeName: 'pv' }), volume('pv', {}, { [ZONE]: 'b__c' })],
      ['in-b'],
      '',
    ],
    [
      'a volume with the beta label of its zone does not fit nodes that only have the new label',
      ['old'],
      [claim('old', { volumeName: 'pv' }), volume('pv', {}, { 'failure-domain.beta.kubernetes.io/zone': 'b' })],
      ['in-b'],
      '',
    ],
    [
      'a label with a list of zones that has an empty one does not count',
      ['odd'],
      [claim('odd', { volumeName: 'pv' }), volume('pv', {}, { [ZONE]: 'b__' })],
      ['in-a', 'in-b'],
      '',
    ],
    [
      'volumes in two zones',
      ['in-a', 'labelled'],
      [claim('in-a', { volumeName: 'pv-a' }), claim('labelled', { volumeName: 'pv' }), volume('pv', {}, { [ZONE]: 'b' })],
      [],
      "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) had no available volume zone.",
    ],
    [
      'a volume that does not exist',
      ['gone'],
      [claim('gone', { volumeName: 'pv-gone' })],
      [],
      '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
    ],
    ['a claim that is bound with its pod', ['new'], [claim('new', { storageClassName: 'later' })], ['in-a', 'in-b'], ''],
    ['a class for some topologies', ['new'], [claim('new', { storageClassName: 'zonal' })], ['in-b'], ''],
    [
      'a volume can be as large as the driver says',
      ['new'],
      [claim('new', { storageClassName: 'measured', ...size('10Gi') })],
      ['in-a', 'in-b'],
      '',
    ],
    ['a volume that is too small does not fit', ['new'], [claim('new', { storageClassName: 'measured', ...size('11Gi') })], ['in-b'], ''],
    [
      'no node has enough storage',
      ['new'],
      [claim('new', { storageClassName: 'measured', ...size('51Gi') })],
      [],
      '0/2 nodes are available: 2 node(s) did not have enough free storage.',
    ],
    [
      'volumes that were made by hand: large enough, with the access mode',
      ['new'],
      [
        claim('new', { storageClassName: 'local', ...RWO, ...size('5Gi') }),
        volume('small', { storageClassName: 'local', ...RWO, capacity: { storage: '4Gi' }, ...inZone('a') }),
        volume('large', { storageClassName: 'local', ...RWO, capacity: { storage: '5Gi' }, ...inZone('b') }),
      ],
      ['in-b'],
      '',
    ],
    [
      'a volume that another claim has',
      ['new'],
      [
        claim('new', { storageClassName: 'local', ...RWO }),
        volume('taken', { storageClassName: 'local', ...RWO, claimRef: { namespace: 'shop', name: 'other' } }),
      ],
      [],
      NO_ROOM(2),
    ],
    [
      'two claims need two volumes',
      ['one', 'two'],
      [
        claim('one', { storageClassName: 'local' }),
        claim('two', { storageClassName: 'local' }),
        volume('only', { storageClassName: 'local' }),
      ],
      [],
      NO_ROOM(2),
    ],
    [
      'a volume that names the claim is the only volume for it',
      ['new'],
      [
        claim('new', { storageClassName: 'local' }),
        volume('other', { storageClassName: 'local', ...inZone('b') }),
        volume('reserved', { storageClassName: 'local', claimRef: { namespace: 'shop', name: 'new' }, ...inZone('a') }),
      ],
      ['in-a'],
      '',
    ],
    [
      'a volume is being made for a node',
      ['new'],
      [claim('new', { storageClassName: 'later' }, { annotations: { 'volume.kubernetes.io/selected-node': 'in-b' } })],
      ['in-b'],
      '',
    ],
    ['an unbound claim of a class that binds at once', ['new'], [claim('new', { storageClassName: 'now' })], [], UNBOUND],
    ['an unbound claim of a class that does not exist', ['new'], [claim('new', { storageClassName: 'none' })], [], UNBOUND],
    ['an unbound claim without class', ['new'], [claim('new', {})], [], UNBOUND],
    ['the claim does not exist', ['none'], [claim('other', {})], [], '0/2 nodes are available: persistentvolumeclaim "none" not found.'],
    [
      'a claim that has lost its volume',
      ['lost'],
      [claim('lost', { volumeName: 'pv-a' }, {}, { phase: 'Lost' })],
      [],
      '0/2 nodes are available: persistentvolumeclaim "lost" bound to non-existent persistentvolume "pv-a".',
    ],
    [
      'a claim that is being deleted',
      ['ending'],
      [claim('ending', { volumeName: 'pv-a' }, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
      [],
      '0/2 nodes are available: persistentvolumeclaim "ending" is being deleted.',
    ],
  ])('%s', (_rule, claims, objects, feasible, message) => {
    const cluster = new Cluster({ nodes, volumes: volumesOf(...objects) });
    const result = new Scheduler(cluster).schedule(podOf('new', { volumes: named(...claims) }), { everyNode: true });
    expect([result.feasible, result.message]).toEqual([feasible, message]);
  });

  test('a node without a zone may have a volume with zones in its labels', () => {
    const volumes = volumesOf(claim('labelled', { volumeName: 'pv' }), volume('pv', {}, { [ZONE]: 'b' }));
    const cluster = new Cluster({ nodes: [nodeOf('plain')], volumes });
    expect(new Scheduler(cluster).schedule(podOf('new', { volumes: named('labelled') })).node).toBe('plain');
  });

  test('a ReadWriteOncePod claim waits for the pod that uses it, on any node, or preempts that pod', () => {
    const volumes = volumesOf(claim('single', { volumeName: 'pv-anywhere', accessModes: ['ReadWriteOncePod'] }));
    const user = podOf('user', { nodeName: 'in-a', volumes: named('single') });
    const ofOtherNamespace = podOf('other', { nodeName: 'in-b', namespace: 'bank', volumes: named('single') });
    const scheduler = new Scheduler(new Cluster({ nodes, volumes, pods: [user, ofOtherNamespace] }));
    const pod = podOf('new', { volumes: named('single'), priority: 5 });
    const result = scheduler.schedule(pod);
    expect(result.message).toBe(
      '0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.',
    );
    expect(scheduler.preempt(pod, result, []).candidate).toMatchObject({ node: 'in-a', victims: [user] });
    scheduler.cluster.remove(user);
    expect(scheduler.schedule(pod).node).toBeDefined();
  });

  test('claims do not count in a cluster whose volumes are unknown', () => {
    expect(new Scheduler(new Cluster({ nodes })).schedule(podOf('new', { volumes: named('none') })).node).toBeDefined();
    const objects = new VolumeObjects();
    objects.take('PersistentVolumeClaim', documentOf(claim('bound', { volumeName: 'pv' })[1]));
    expect(objects.volumes()).toBeUndefined();
  });
});

describe('a node can attach as many volumes of a driver as its CSINode allows', () => {
  const csi = (handle: string) => ({ csi: { driver: 'disk.example.com', volumeHandle: handle } });
  const drivers = (count: number) => [{ name: 'disk.example.com', allocatable: { count } }, { name: 'free.example.com' }];
  const volumes = volumesOf(
    ['CSINode', { metadata: { name: 'in-a' }, spec: { drivers: drivers(2) } }],
    ['CSINode', { metadata: { name: 'in-b' }, spec: { drivers: drivers(0) } }],
    ...['one', 'two', 'three'].flatMap((name) => [claim(name, { volumeName: `pv-${name}` }), volume(`pv-${name}`, csi(name))]),
    ...[claim('free', { volumeName: 'pv-free' }), volume('pv-free', { csi: { driver: 'free.example.com', volumeHandle: 'f' } })],
    claim('to-be-made', { storageClassName: 'later' }),
  );
  test.each<[rule: string, used: readonly string[], wanted: string, isThere: boolean]>([
    ['one volume below the limit', ['one'], 'two', true],
    ['as many volumes as the limit', ['one', 'two'], 'three', false],
    ['a volume that is already attached does not count', ['one', 'two'], 'two', true],
    ['a volume that is to be made', ['one', 'two'], 'to-be-made', false],
    ['a driver without a limit', ['one', 'two'], 'free', true],
  ])('%s', (_rule, used, wanted, isThere) => {
    const pods = [podOf('user', { nodeName: 'in-a', volumes: named(...used) })];
    const result = new Scheduler(new Cluster({ nodes, volumes, pods })).schedule(podOf('new', { volumes: named(wanted) }), {
      everyNode: true,
    });
    expect(result.feasible.includes('in-a')).toBe(isThere);
    if (!isThere) expect(result.rejected.get('in-a')?.reasons).toEqual(['node(s) exceed max volume count']);
  });
});

describe('claims and volumes that are created and deleted with pods', () => {
  const ephemeral = (spec: Value): readonly PodVolume[] =>
    podVolumesAt(documentOf({ volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }] }));
  const placed = (cluster: Cluster, pod: SchedulerPod): readonly string[] => {
    cluster.volumes?.create(pod);
    const { feasible, node, message } = new Scheduler(cluster).schedule(pod, { everyNode: true });
    if (node !== undefined) {
      cluster.add(pod, node);
      cluster.reserve(pod, node);
    }
    return node === undefined ? [message] : feasible;
  };
  const known = [
    claim('other', {}),
    storageClass('usual', {
      metadata: { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ['b'] }] }],
    }),
  ];

  test.each<[rule: string, spec: Value, feasible: readonly string[]]>([
    ['of a class with WaitForFirstConsumer', { storageClassName: 'zonal' }, ['in-b']],
    ['of a class that binds immediately', { storageClassName: 'now' }, ['in-a', 'in-b']],
    ['of the default class', {}, ['in-b']],
    ['without a class, and a volume exists that was made by hand', { storageClassName: '' }, ['in-a']],
    ['without a class, and no volume exists', { storageClassName: '', ...size('1Gi') }, [UNBOUND]],
    ['of a class that has no volumes', { storageClassName: 'local' }, [NO_ROOM(2)]],
  ])('an ephemeral volume gets a claim %s', (_rule, spec, feasible) => {
    expect(placed(new Cluster({ nodes, volumes: volumesOf(...known) }), podOf('web-1', { volumes: ephemeral(spec) }))).toEqual(feasible);
  });

  test('without the controller the pod waits for the claim, and does not take that of another pod', () => {
    const cluster = new Cluster({
      nodes,
      volumes: volumesOf(...known, claim('taken-scratch', {}, { ownerReferences: [{ uid: 'other', controller: true }] })),
    });
    const messageFor = (name: string): string => new Scheduler(cluster).schedule(podOf(name, { volumes: ephemeral({}) })).message;
    expect(messageFor('web-1')).toBe(
      '0/2 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "web-1-scratch".',
    );
    expect(messageFor('taken')).toBe(
      '0/2 nodes are available: PVC shop/taken-scratch was not created for pod shop/taken (pod is not owner).',
    );
  });

  test('the claim of an ephemeral volume is deleted with the pod, and a separate claim stays', () => {
    const cluster = new Cluster({ nodes, volumes: volumesOf(...known) });
    const pod = podOf('web-1', { volumes: [...ephemeral({ storageClassName: 'now' }), ...named('other')] });
    cluster.volumes?.create(pod);
    expect([cluster.volumes?.state.claims.size, cluster.volumes?.state.volumes.size]).toEqual([2, 3]);
    cluster.end(pod);
    expect([...(cluster.volumes?.state.claims.keys() ?? [])]).toEqual(['shop/other']);
    expect(cluster.volumes?.state.volumes.size).toBe(2);
  });

  test('a shared claim is bound with its first pod, and the other pods go where its volume is', () => {
    const drivers = nodes.map(({ name }): Written => [
      'CSINode',
      { metadata: { name }, spec: { drivers: [{ name: 'disk.example.com', topologyKeys: [ZONE] }] } },
    ]);
    const cluster = new Cluster({ nodes, volumes: volumesOf(claim('shared', { storageClassName: 'later' }), ...drivers) });
    expect(placed(cluster, podOf('first', { volumes: named('shared') }))).toEqual(['in-a', 'in-b']);
    const first = [...cluster.pods].map((pod) => cluster.nodeOf(pod));
    expect(placed(cluster, podOf('second', { volumes: named('shared') }))).toEqual(first);
  });

  test('a volume that was made by hand is bound to one claim', () => {
    const claims = ['one', 'two'].map((name) => claim(name, { storageClassName: 'local' }));
    const cluster = new Cluster({ nodes, volumes: volumesOf(...claims, volume('only', { storageClassName: 'local' })) });
    expect(placed(cluster, podOf('first', { volumes: named('one') }))).toEqual(['in-a', 'in-b']);
    expect(placed(cluster, podOf('second', { volumes: named('two') }))).toEqual([NO_ROOM(2)]);
  });
});
