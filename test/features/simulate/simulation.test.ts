import { describe, expect, test } from 'vitest';
import type { SimulatedAction } from '../../../src/core/simulation/timeline-event.js';
import { fc } from '../../support/property.js';
import { generatedCluster, type ApiObject } from '../../support/cluster/generated-cluster.js';
import { fatesOf } from './fates.js';
import { budget, dumped, node, pod, simulationOf, told } from './support.js';

const drain: SimulatedAction = { kind: 'drain', node: 'node-1' };
const taint = (effect: 'NoExecute' | 'NoSchedule'): SimulatedAction => ({
  kind: 'taint',
  node: 'node-1',
  taint: { key: 'maintenance', value: 'yes', effect },
});
const tolerating = (seconds: number): ApiObject => ({
  tolerations: [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }],
});
const unreachable = {
  tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
};
const TWO = [node('node-1'), node('node-2')];
const NO_ROOM = '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: ';
const NO_VICTIM = '0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.';

/** The volume of web-1 is on node-1, and node-3 is where volumes can be made. */
function withEphemeralVolumes(): readonly ApiObject[] {
  const host = (name: string) => ({ key: 'kubernetes.io/hostname', values: [name] });
  const template = { spec: { storageClassName: 'local' } };
  const nodeSelectorTerms = [{ matchExpressions: [{ ...host('node-1'), operator: 'In' }] }];
  return [
    node('node-3'),
    pod('web-1', 'node-1', { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: template } }] }),
    {
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'local' }, provisioner: 'local.example.com' },
      ...{ volumeBindingMode: 'WaitForFirstConsumer', allowedTopologies: [{ matchLabelExpressions: [host('node-3')] }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { ...template.spec, volumeName: 'pv' } },
      metadata: { name: 'web-1-scratch', namespace: 'shop', ownerReferences: [{ kind: 'Pod', uid: 'web-1', controller: true }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv' } },
      spec: { nodeAffinity: { required: { nodeSelectorTerms } } },
    },
  ];
}

describe('a simulated drain', () => {
  test.each<[rule: string, objects: readonly ApiObject[], lines: readonly string[]]>([
    [
      'a pod of a controller runs elsewhere under a new name',
      [pod('web-1', 'node-1')],
      ['0 evicted shop/web-1 node-1', '0 scheduled shop/web-new1 node-2'],
    ],
    [
      'a pod of a StatefulSet keeps its name: it waits until the old one has had its grace period',
      [pod('db-0', 'node-1', { owner: 'StatefulSet' })],
      ['0 evicted shop/db-0 node-1', '30 scheduled shop/db-0 node-2'],
    ],
    [
      'an ephemeral volume does not follow the pod: its replacement gets a new one, where its class has volumes',
      withEphemeralVolumes(),
      ['0 evicted shop/web-1 node-1', '0 scheduled shop/web-new1 node-3'],
    ],
    [
      'a pod without a controller is gone',
      [pod('alone-1', 'node-1', { owner: '' })],
      ['0 evicted shop/alone-1 node-1', '30 lost shop/alone-1'],
    ],
    ['a pod of a DaemonSet stays', [pod('agent-1', 'node-1', { owner: 'DaemonSet' })], ['0 stays shop/agent-1']],
    [
      'a budget allows the second pod when the new one is ready, at the next turn of 5 s',
      [pod('web-1', 'node-1'), pod('web-2', 'node-1'), budget('web', 2, 1)],
      [
        ...['0 evicted shop/web-1 node-1', '0 refused shop/web-2 until 25', '0 scheduled shop/web-new1 node-2'],
        ...['25 evicted shop/web-2 node-1', '25 scheduled shop/web-new2 node-2'],
      ],
    ],
    ['a budget that allows nothing refuses for good', [pod('web-1', 'node-1'), budget('web', 1, 1)], ['0 refused shop/web-1 for good']],
    [
      "without room it is pending, in the scheduler's words",
      [pod('web-1', 'node-1', { cpu: '3' }), pod('big-1', 'node-2', { cpu: '2' })],
      ['0 evicted shop/web-1 node-1', `0 pending shop/web-new1: ${NO_ROOM}${NO_VICTIM}`],
    ],
    [
      'a more important pod takes the place of another, which is pending then',
      [pod('web-1', 'node-1', { cpu: '3', priority: 10 }), pod('big-1', 'node-2', { cpu: '2' })],
      [
        '0 evicted shop/web-1 node-1',
        '0 pending shop/web-new1 for node-2: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.',
        '0 evicted shop/big-1 node-2',
        '30 scheduled shop/web-new1 node-2',
        `30 pending shop/big-new1: ${NO_ROOM}${NO_VICTIM}`,
      ],
    ],
  ])('%s', (_rule, objects, lines) => {
    const simulation = simulationOf([...TWO, ...objects]);
    simulation.run(drain);
    expect(told(simulation.events)).toEqual(['0 node-1: cordoned', ...lines]);
  });
});

describe('a simulated taint', () => {
  test.each<[rule: string, effect: 'NoExecute' | 'NoSchedule', spec: ApiObject, lines: readonly string[]]>([
    ['NoSchedule ends nothing', 'NoSchedule', {}, []],
    [
      'NoExecute ends what does not tolerate it, whatever budgets say',
      'NoExecute',
      {},
      ['0 evicted shop/web-1 node-1', '0 scheduled shop/web-new1 node-2'],
    ],
    [
      'a toleration ends after its seconds',
      'NoExecute',
      tolerating(90),
      ['0 stays shop/web-1', '90 evicted shop/web-1 node-1', '90 scheduled shop/web-new1 node-2'],
    ],
  ])('%s', (_rule, effect, spec, lines) => {
    const simulation = simulationOf([
      ...TWO,
      pod('web-1', 'node-1', spec),
      pod('full-1', 'node-1', tolerating(2 ** 40)),
      budget('web', 1, 1),
    ]);
    simulation.run(taint(effect));
    expect(told(simulation.events).filter((line) => !line.includes('full-1'))).toEqual([
      `0 node-1: has the taint maintenance=yes:${effect}`,
      ...lines,
    ]);
  });
});

test('a failed node is noticed after 50 s, and its pods are created again 300 s later, except one of a StatefulSet', () => {
  const objects = [pod('web-1', 'node-1', unreachable), pod('db-0', 'node-1', { owner: 'StatefulSet', ...unreachable })];
  const simulation = simulationOf([...TWO, ...objects]);
  simulation.run({ kind: 'fail', node: 'node-1' });
  expect(told(simulation.events).filter((line) => !line.includes('node-1:'))).toEqual([
    ...[
      '50 stays shop/web-1',
      '50 stays shop/db-0',
      '350 evicted shop/web-1 node-1',
      '350 evicted shop/db-0 node-1',
      '350 stays shop/db-0',
    ],
    '350 scheduled shop/web-new1 node-2',
  ]);
});

test('pods on a node out of service that its kubelet cannot end are deleted, and run elsewhere', () => {
  const forEver = { tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists' }] };
  const objects = [unreachable, forEver].map((spec, index) => pod(`db-${String(index)}`, 'node-1', { owner: 'StatefulSet', ...spec }));
  const simulation = simulationOf([...TWO, ...objects]);
  simulation.run({ kind: 'fail', node: 'node-1' });
  const before = simulation.events.length;
  simulation.run({ kind: 'taint', node: 'node-1', taint: { key: 'node.kubernetes.io/out-of-service', value: '', effect: 'NoExecute' } });
  expect(told(simulation.events.slice(before)).slice(1)).toEqual([
    '350 evicted shop/db-1 node-1',
    '370 node-1: its terminating pods are deleted by force',
    '370 scheduled shop/db-0 node-2',
    '370 scheduled shop/db-1 node-2',
  ]);
});

test('a budget protects a pod that runs and is not ready', () => {
  const running = pod('web-1', 'node-1', unreachable);
  const unready = { ...running, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } };
  const simulation = simulationOf([...TWO, unready, budget('web', 1, 2)]);
  simulation.run(drain);
  expect(told(simulation.events)).toEqual(['0 node-1: cordoned', '0 refused shop/web-1 for good']);
});

test('a bound pod may be the one that another pending pod must run with', () => {
  const near = { labelSelector: { matchLabels: { app: 'leader' } }, topologyKey: 'kubernetes.io/hostname' };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
  const simulation = simulationOf([...TWO, pod('follower-1', '', { priority: 5, affinity }), pod('leader-1', '')]);
  simulation.run({ kind: 'taint', node: 'node-1', taint: { key: 'k', value: '', effect: 'PreferNoSchedule' } });
  const scheduled = told(simulation.events).filter((line) => line.includes('scheduled'));
  expect(scheduled).toEqual(['0 scheduled shop/leader-1 node-2', '0 scheduled shop/follower-1 node-2']);
});

test('a pod of another kind of controller fails alone, and a mirror pod is not created elsewhere', () => {
  const simulation = simulationOf([
    ...TWO,
    pod('flow-1', '', { owner: 'Workflow', cpu: '100' }),
    pod('flow-2', '', { owner: 'Workflow' }),
    pod('kube-1', 'node-1', { owner: 'Node', cpu: '4', priority: -1 }),
  ]);
  simulation.run({ kind: 'taint', node: 'node-1', taint: { key: 'k', value: '', effect: 'NoExecute' } });
  const lines = told(simulation.events);
  expect(lines).toContain('0 scheduled shop/flow-2 node-2');
  expect(lines.filter((line) => line.includes('kube'))).toEqual(['0 evicted shop/kube-1 node-1', '30 lost shop/kube-1']);
});

describe('simulated memory pressure', () => {
  const metrics = (name: string, memory: string): ApiObject => ({
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name, namespace: 'shop' },
    containers: [{ usage: { memory } }],
  });
  const PODS = [
    ...[
      pod('within-1', 'node-1'),
      pod('above-1', 'node-1'),
      pod('most-1', 'node-1'),
      pod('critical-1', 'node-1', { priority: 2_000_000_000 }),
    ],
    ...[metrics('within-1', '512Mi'), metrics('above-1', '1500Mi'), metrics('most-1', '2Gi'), metrics('critical-1', '3Gi')],
  ];

  test('keeps the loss of the node', () => {
    const simulation = simulationOf([...TWO, pod('within-1', 'node-1'), metrics('within-1', '512Mi')]);
    simulation.run({ kind: 'pressure', node: 'node-1', availableBytes: 2n ** 30n * -5n, isChange: true });
    simulation.run({ kind: 'pressure', node: 'node-1', availableBytes: -1n, isChange: true });
    expect(simulation.world.memory.available('node-1')).toBe((2n ** 30n * 5n) / 2n - 1n);
  });

  test('evicts pods above their requests first, the most above first, until the threshold is not met; a taint stays for 5 min', () => {
    const simulation = simulationOf([...TWO, ...PODS]);
    simulation.run({ kind: 'pressure', node: 'node-1', availableBytes: 2n ** 20n * -990n, isChange: true });
    expect(told(simulation.events)).toEqual([
      '0 node-1: MemoryPressure: memory.available is 70MiB',
      '0 node-1: has the taint node.kubernetes.io/memory-pressure:NoSchedule',
      '0 evicted shop/most-1 node-1',
      '1 node-1: relieved: memory.available is 2.06GiB',
      '1 scheduled shop/most-new1 node-2',
      '301 node-1: has no taint node.kubernetes.io/memory-pressure:NoSchedule any more',
    ]);
  });

  test('evicts nothing if as much as the threshold is available', () => {
    const simulation = simulationOf([...TWO, ...PODS]);
    simulation.run({ kind: 'pressure', node: 'node-1', availableBytes: 100n * 2n ** 20n, isChange: false });
    expect(told(simulation.events)).toEqual(['0 node-1: memory.available is 100MiB: no threshold is met']);
  });
});

test('a pod that was already ending makes room, and its ReplicaSet has already replaced it', () => {
  const ending = pod('web-1', 'node-2', { cpu: '4' });
  const metadata = { ...(ending.metadata as object), deletionTimestamp: '2026-01-01T00:00:00Z' };
  const simulation = simulationOf([...TWO, { ...ending, metadata }, pod('app-1', 'node-1')]);
  simulation.run(drain);
  expect(told(simulation.events).slice(-2)).toEqual([
    expect.stringContaining('0 pending shop/app-new1'),
    '30 scheduled shop/app-new1 node-2',
  ]);
  expect(fatesOf(simulation.pods).get('shop/web-1')).toEqual({ kind: 'ended', why: 'replaced before' });
});

test('new pods run where there is room, and the rest is pending with one message', () => {
  const simulation = simulationOf([...TWO]);
  const [added] = dumped([node('x'), pod('job-1', '', { cpu: '3' })]).content.pods;
  if (added === undefined) throw new Error('no pod');
  const pods = ['a', 'b', 'c'].map((name) => ({ ...added, scheduling: { ...added.scheduling, name } }));
  simulation.run({ kind: 'add', pods, what: 'job.yaml' });
  const outcome = told(simulation.events).map((line) => line.replace(/node-\d/, 'a node'));
  expect(outcome.slice(0, 2)).toEqual(['0 scheduled shop/a a node', '0 scheduled shop/b a node']);
  expect(outcome[2]).toContain('0 pending shop/c: 0/2 nodes are available: 2 Insufficient cpu.');
});

test('no pod is lost, whatever happens to a cluster', () => {
  const nodeOf = fc.integer({ min: 0, max: 11 }).map((index) => `node-${String(index)}`);
  const action = fc.oneof<fc.Arbitrary<SimulatedAction>[]>(
    nodeOf.map((name) => ({ kind: 'drain', node: name })),
    nodeOf.map((name) => ({ kind: 'fail', node: name })),
    nodeOf.map((name) => ({ kind: 'taint', node: name, taint: { key: 'maintenance', value: '', effect: 'NoExecute' } })),
    fc.record({ node: nodeOf, gib: fc.bigInt(-60n, 0n) }).map(({ node: name, gib }) => {
      return { kind: 'pressure', node: name, availableBytes: gib * 2n ** 30n, isChange: true };
    }),
  );
  fc.assert(
    fc.property(fc.nat(50), fc.array(action, { minLength: 1, maxLength: 4 }), (seed, actions) => {
      const objects = [...generatedCluster({ seed, nodes: 12, podsPerNode: 12 })];
      const simulation = simulationOf(objects);
      const daemons = new Set(
        simulation.pods.filter(({ scheduling }) => scheduling.controller?.kind === 'DaemonSet').map(({ path }) => path),
      );
      for (const each of actions) simulation.run(each);
      const fates = fatesOf(simulation.pods);
      expect(fates.size).toBe(objects.filter(({ kind }) => kind === 'Pod').length);
      for (const [path, fate] of fates) if (fate.kind === 'ended') expect(daemons.has(path)).toBe(true);
      // What is booked on a node is what its pods ask for, and no more than the node has.
      for (const { node: own, used, pods } of simulation.world.cluster.nodes) {
        const cpu = [...pods].reduce((sum, { requests }) => sum + (requests.get('cpu') ?? 0n), 0n);
        expect(used.get('cpu') ?? 0n).toBe(cpu);
        expect(cpu <= (own.allocatable.get('cpu') ?? 0n)).toBe(true);
      }
    }),
    { numRuns: 20 },
  );
});

describe('a pod that is nominated', () => {
  const priorityOf = (priority: number, cpu: string): ApiObject => ({ priority, cpu });
  const tolerated = (seconds: number): ApiObject => ({ ...priorityOf(10, '3'), ...tolerating(seconds) });
  const nominated = (important: ApiObject, ...more: readonly ApiObject[]): readonly string[] => {
    const simulation = simulationOf([
      ...[node('node-0'), node('node-1')],
      ...[pod('low-1', 'node-0', priorityOf(-10, '3')), pod('middle-1', '', priorityOf(5, '3')), important, ...more],
    ]);
    simulation.run(taint('NoExecute'));
    return told(simulation.events).filter((line) => /middle|small/.test(line));
  };
  const FOR_NODE_0 = 'node-0: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).';
  const NOT_HELPED = 'no new claims to deallocate, preemption: 0/2 nodes are available: 1';

  test('loses the node to a more important pod, and looks for another node', () => {
    expect(nominated(pod('high-1', 'node-1', tolerated(10)))).toEqual([
      `0 pending shop/middle-1 for ${FOR_NODE_0}`,
      expect.stringContaining(
        `10 pending shop/middle-1: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). ${NOT_HELPED}`,
      ),
      expect.stringContaining('30 pending shop/middle-1'),
    ]);
  });

  test('keeps no room where it does not fit any more', () => {
    expect(nominated(pod('high-1', 'node-1', tolerated(30)), pod('small-1', '', priorityOf(3, '1')))).toEqual([
      `0 pending shop/middle-1 for ${FOR_NODE_0}`,
      `0 pending shop/small-1 for ${FOR_NODE_0}`,
      expect.stringContaining('30 pending shop/middle-1'),
      '30 scheduled shop/small-1 node-0',
      expect.stringContaining('60 pending shop/middle-1'),
    ]);
  });
});
