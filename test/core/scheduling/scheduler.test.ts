import { expect, test } from 'vitest';
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import {
  DEFAULT_PROFILE,
  DEFAULT_SCHEDULER,
  type SchedulerProfile,
  type SchedulerProfiles,
} from '../../../src/core/scheduling/scheduler-profile.js';
import { Scheduler } from '../../../src/core/scheduling/scheduler.js';
import type { SchedulerPod } from '../../../src/core/scheduling/scheduler-pod.js';
import { HOST, nodeOf, podOf, selectorOf } from './scheduling-values.js';

const cpu = (milli: bigint): ReadonlyMap<string, bigint> => new Map([['cpu', milli]]);
const nodesOf = (count: number): ReturnType<typeof nodeOf>[] =>
  Array.from({ length: count }, (_item, index) => nodeOf(`n${String(index)}`));

test('a nominated pod counts as running on its node for pods that are at most as important', () => {
  const cluster = new Cluster({ nodes: nodesOf(1) });
  cluster.nominate(podOf('nominated', { priority: 5, requests: cpu(800n) }), 'n0');
  const nodeFor = (priority: number): string | undefined =>
    new Scheduler(cluster).schedule(podOf('new', { priority, requests: cpu(300n) })).node;
  expect([4, 5, 6].map(nodeFor)).toEqual([undefined, undefined, 'n0']);
});

test('a pod cannot rely on a pod that is only nominated', () => {
  const cluster = new Cluster({ nodes: nodesOf(1) });
  const near = { selector: selectorOf('app', 'In', 'web'), namespaces: ['shop'], namespaceSelector: undefined, topologyKey: HOST };
  const web = podOf('web', { priority: 5, labels: new Map([['app', 'web']]) });
  const pod = podOf('new', { podAffinity: { required: [near], preferred: [] } });
  cluster.nominate(web, 'n0');
  expect(new Scheduler(cluster).schedule(pod).message).toBe("0/1 nodes are available: 1 node(s) didn't match pod affinity rules.");
  cluster.add(web, 'n0');
  expect(new Scheduler(cluster).schedule(pod).node).toBe('n0');
});

test('a pod goes to the node that it is nominated to, if that is feasible, whatever the scores', () => {
  const cluster = new Cluster({ nodes: nodesOf(3), pods: [podOf('other', { nodeName: 'n2', requests: cpu(500n) })] });
  const pod = podOf('new', { requests: cpu(400n) });
  cluster.nominate(pod, 'n2');
  expect(new Scheduler(cluster).schedule(pod).node).toBe('n2');
  cluster.add(podOf('more', { requests: cpu(500n) }), 'n2');
  expect(new Scheduler(cluster).schedule(pod).node).not.toBe('n2');
});

test('the size of an image is the one that the first node with it reports', () => {
  const mib = (size: number): ReadonlyMap<string, number> => new Map([['web:1', size * 1024 ** 2]]);
  const [small, large] = [nodeOf('n0', { images: mib(500) }), nodeOf('n1', { images: mib(900) })];
  const scoresIn = (cluster: Cluster): readonly unknown[] => {
    const { scores } = new Scheduler(cluster).schedule(podOf('new'), { everyNode: true });
    return ['n0', 'n1', 'n2'].map((name) => scores?.get(name)?.get('ImageLocality'));
  };
  const cluster = new Cluster({ nodes: [small, large, nodeOf('n2')] });
  // 500 MiB * 2 / 3, of the range from 23 MiB to 1000 MiB.
  expect(scoresIn(cluster)).toEqual([31, 31, 0]);
  cluster.setNode(nodeOf('n0'));
  expect(scoresIn(cluster)).toEqual([0, 14, 0]);
  cluster.setNode(nodeOf('n1'));
  cluster.setNode(large);
  expect(scoresIn(cluster)).toEqual([0, 28, 0]);
});

test('the search ends when enough nodes were found, and the next search begins after them', () => {
  const scheduler = new Scheduler(new Cluster({ nodes: nodesOf(250) }));
  const [first, second, third] = [0, 1, 2].map(() => scheduler.schedule(podOf('new')).feasible);
  expect([first, second, third].map((names) => names?.length)).toEqual([120, 120, 120]);
  expect([first?.[0], second?.[0], third?.[0], third?.at(-1)]).toEqual(['n0', 'n120', 'n240', 'n109']);
  expect(scheduler.schedule(podOf('new'), { everyNode: true }).feasible).toHaveLength(250);
});

test('the seed decides between equal nodes', () => {
  const chosen = (seed: number): string | undefined =>
    new Scheduler(new Cluster({ nodes: nodesOf(9) }), { seed }).schedule(podOf('new')).node;
  const seeds = Array.from({ length: 30 }, (_item, seed) => seed);
  expect(seeds.map(chosen)).toEqual(seeds.map(chosen));
  expect(new Set(seeds.map(chosen)).size).toBeGreaterThan(1);
});

const preempted = (pods: readonly SchedulerPod[], pod: SchedulerPod, nodes = nodesOf(3)): unknown => {
  const scheduler = new Scheduler(new Cluster({ nodes, pods }));
  const result = scheduler.schedule(pod);
  const { candidate, message } = scheduler.preempt(pod, result, []);
  return candidate === undefined ? `${result.message} ${message}` : [candidate.node, ...candidate.victims.map(({ name }) => name)];
};

test.each<[rule: string, pods: readonly SchedulerPod[], pod: SchedulerPod, expected: unknown]>([
  [
    'no pod is less important',
    ['n0', 'n1', 'n2'].map((nodeName) => podOf(nodeName, { nodeName, requests: cpu(900n) })),
    podOf('new', { requests: cpu(500n) }),
    '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
  ],
  [
    'the nodes are too small',
    [],
    podOf('new', { requests: cpu(5_000n) }),
    '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  ],
  [
    'a node is too full even without its less important pods',
    ['n0', 'n1', 'n2'].flatMap((nodeName) => [
      podOf(`${nodeName}-high`, { nodeName, requests: cpu(900n), priority: 9 }),
      podOf(`${nodeName}-low`, { nodeName, requests: cpu(50n), priority: -1 }),
    ]),
    podOf('new', { requests: cpu(500n) }),
    '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Insufficient cpu.',
  ],
  [
    'the pod has preemptionPolicy Never',
    [podOf('low', { nodeName: 'n0', priority: -1, requests: cpu(900n) })],
    podOf('new', { requests: cpu(1_001n), preemptionPolicy: 'Never' }),
    '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
  ],
  [
    'the node whose victims are the least important',
    [
      podOf('high', { nodeName: 'n0', priority: 5, requests: cpu(900n) }),
      podOf('low', { nodeName: 'n1', priority: 1, requests: cpu(900n) }),
      podOf('middle', { nodeName: 'n2', priority: 3, requests: cpu(900n) }),
    ],
    podOf('new', { priority: 9, requests: cpu(500n) }),
    ['n1', 'low'],
  ],
])('preemption: %s', (_rule, pods, pod, expected) => {
  expect(preempted(pods, pod)).toEqual(expected);
});

test('the search for victims ends when a tenth of the nodes, and at least 100, are candidates', () => {
  const nodes = nodesOf(150);
  const pods = nodes.map(({ name }, index) => podOf(name, { nodeName: name, priority: index, requests: cpu(900n) }));
  const scheduler = new Scheduler(new Cluster({ nodes, pods }));
  const pod = podOf('new', { priority: 1_000, requests: cpu(500n) });
  const result = scheduler.schedule(pod);
  const chosen = new Set(Array.from({ length: 20 }, () => scheduler.preempt(pod, result, []).candidate?.node));
  // n0 is the best of all, and not always among the 100 that are looked at.
  expect(chosen).toContain('n0');
  expect(chosen.size).toBeGreaterThan(1);
});

const profilesOf = (changes: Partial<SchedulerProfile>): SchedulerProfiles =>
  new Map([[DEFAULT_SCHEDULER, { ...DEFAULT_PROFILE, ...changes }]]);

test('the search ends with one candidate if the profile says so', () => {
  const nodes = nodesOf(20);
  const pods = nodes.map(({ name }, index) => podOf(name, { nodeName: name, priority: index, requests: cpu(900n) }));
  const scheduler = new Scheduler(new Cluster({ nodes, pods }), {
    profiles: profilesOf({ minCandidateNodes: { percentage: 0, absolute: 1 } }),
  });
  const pod = podOf('new', { priority: 1_000, requests: cpu(500n) });
  const result = scheduler.schedule(pod);
  const chosen = new Set(Array.from({ length: 20 }, () => scheduler.preempt(pod, result, []).candidate?.node));
  expect(chosen.size).toBeGreaterThan(1);
});

test('plugins that are disabled neither filter, score nor preempt', () => {
  const plugins = { filters: ['NodeName'], scores: [{ name: 'TaintToleration', weight: 7 }], preempts: false };
  const cluster = new Cluster({ nodes: nodesOf(2), pods: [podOf('low', { nodeName: 'n0', priority: -1, requests: cpu(900n) })] });
  const scheduler = new Scheduler(cluster, { profiles: profilesOf({ plugins }) });
  const { scores } = scheduler.schedule(podOf('new', { requests: cpu(5_000n) }));
  expect([...(scores?.get('n0') ?? [])]).toEqual([['TaintToleration', 700]]);
  const elsewhere = podOf('elsewhere', { nodeName: 'n9' });
  const { message, ...result } = scheduler.schedule(elsewhere);
  expect(`${message} ${scheduler.preempt(elsewhere, result, []).message}`).toBe(
    "0/2 nodes are available: 2 node(s) didn't match the requested node name. no new claims to deallocate",
  );
});

test('without NodeAffinity the names of nodes do not count, and without scores one node is enough', () => {
  const terms = [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['n9'] }] }];
  const pod = podOf('new', { requiredNodeAffinity: { labels: new Map(), terms } });
  const plugins = { filters: ['NodeName'], scores: [], preempts: true };
  const scheduler = new Scheduler(new Cluster({ nodes: nodesOf(3) }), { profiles: profilesOf({ plugins }) });
  expect(scheduler.schedule(pod).feasible).toEqual(['n0']);
});

test('the share of nodes that is enough is computed from the nodes that the pod names', () => {
  const names = nodesOf(1_000).map(({ name }) => name);
  const terms = names
    .slice(0, 150)
    .map((name) => ({ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }));
  const pod = podOf('new', { requiredNodeAffinity: { labels: new Map(), terms } });
  // 49 % of 150 nodes, and at least 100; of 1,000 it were 420.
  expect(new Scheduler(new Cluster({ nodes: nodesOf(1_000) })).schedule(pod).feasible).toHaveLength(100);
});

test('a pod uses the profile of its schedulerName, and waits for a scheduler that does not exist here', () => {
  const scheduler = new Scheduler(new Cluster({ nodes: nodesOf(1) }), {
    profiles: new Map([
      ['one', DEFAULT_PROFILE],
      ['other', { ...DEFAULT_PROFILE, plugins: { ...DEFAULT_PROFILE.plugins, filters: [] } }],
    ]),
  });
  const schedule = (schedulerName: string): string => {
    const pod = podOf('new', { schedulerName, requests: cpu(5_000n) });
    const result = scheduler.schedule(pod);
    return `${result.node ?? result.message} ${scheduler.preempt(pod, result, []).message}`;
  };
  expect([schedule('one'), schedule('other'), schedule('volcano')]).toEqual([
    '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    'n0 no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    'waiting for the scheduler "volcano", which is not simulated ',
  ]);
  expect([...scheduler.rejectionsOf(podOf('new', { schedulerName: 'volcano' })).values()]).toEqual([
    [expect.objectContaining({ reasons: ['waiting for the scheduler "volcano", which is not simulated'] })],
  ]);
});

test('a pod that fits no node may preempt although pods end on its nominated node', () => {
  const ending = podOf('ending', { nodeName: 'n0', priority: 1, terminating: true, preempted: true });
  const scheduler = new Scheduler(new Cluster({ nodes: nodesOf(1), pods: [ending] }));
  const named = (name: string) => ({ key: 'metadata.name', operator: 'In', values: [name] });
  const terms = [{ expressions: [], fields: [named('n0'), named('n1')] }];
  const pod = podOf('new', { priority: 5, nominatedNodeName: 'n0', requiredNodeAffinity: { labels: new Map(), terms } });
  const { isEligible, message } = scheduler.preempt(pod, scheduler.schedule(pod), []);
  expect([isEligible, message]).toEqual([
    true,
    'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  ]);
});

test('a pod whose victims are ending on its nominated node preempts no others', () => {
  const cluster = new Cluster({
    nodes: nodesOf(2),
    pods: [
      podOf('ending', { nodeName: 'n0', priority: 1, terminating: true, preempted: true, requests: cpu(900n) }),
      podOf('low', { nodeName: 'n1', priority: 1, requests: cpu(900n) }),
    ],
  });
  const pod = podOf('new', { priority: 5, requests: cpu(500n) });
  cluster.nominate(pod, 'n0');
  const scheduler = new Scheduler(cluster);
  const { candidate, message, isEligible } = scheduler.preempt(pod, scheduler.schedule(pod), []);
  expect([candidate, isEligible, message]).toEqual([
    undefined,
    false,
    'no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.',
  ]);
});
