import { Cluster } from '../../src/core/scheduling/cluster/cluster.js';
import { Scheduler } from '../../src/core/scheduling/scheduler.js';
import type { SchedulerPod } from '../../src/core/scheduling/scheduler-pod.js';
import { documentOf, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { disruptionBudgetAt, namespaceAt, ownerAt, serviceAt } from '../../src/kubernetes/scheduling/cluster-objects.js';
import { schedulerNodeAt } from '../../src/kubernetes/scheduling/scheduler-node.js';
import { schedulerPodAt } from '../../src/kubernetes/scheduling/scheduler-pod.js';
import { generatedCluster } from '../support/cluster/generated-cluster.js';
import { atMost, type Benchmark, type Figure, type Result } from './benchmark.js';
import { Distribution } from './distribution.js';
import { simulatedDrains } from './simulated-drain.js';

const SIZES = [500, 1_000, 2_000, 5_000] as const;
const PODS_PER_NODE = 30;
const PLACEMENTS = 200;
const PREEMPTIONS = 5;

/** Seeded clusters of several sizes: what it costs to read one, to place a pod of it again, and to find victims. */
export const simulate: Benchmark = {
  name: 'simulate',
  what: "the scheduler's rules, on clusters of up to 5,000 nodes and 150,000 pods",
  run: async (bench): Promise<Result> => {
    const figures = SIZES.flatMap((nodes) => figuresOf(nodes));
    const medians = figures.filter(({ what }) => what.startsWith('a pod placed')).map(({ measured }) => medianOf(measured));
    const [least = 0, most = 0] = [medians[0], medians.at(-1)];
    return {
      figures: [
        ...figures,
        { what: 'a placement with ten times the nodes', unit: '×', measured: most / least, ...atMost(12) },
        ...(await simulatedDrains(bench)),
      ],
      notes: ['generated clusters with daemon sets, spread and affinity, 30 pods a node; reading is from objects in memory'],
    };
  },
};

function medianOf(measured: Figure['measured']): number {
  return typeof measured === 'number' ? measured : measured.median;
}

function figuresOf(nodes: number): readonly Figure[] {
  const documents = [...generatedCluster({ seed: 1, nodes, podsPerNode: PODS_PER_NODE })].map(documentOf);
  const from = performance.now();
  const { scheduler, pods, budgets } = readCluster(documents);
  const readMs = performance.now() - from;
  const heap = process.memoryUsage().heapUsed / 1024 ** 2;
  const placed = Array.from({ length: PLACEMENTS }, (_item, index) => placedMs(scheduler, podAt(pods, index * 7_919)));
  const preempted = Array.from({ length: PREEMPTIONS }, () => preemptedMs(scheduler, podAt(pods, 0), budgets));
  const size = `${nodes.toLocaleString('en')} nodes`;
  const isLargest = nodes === SIZES.at(-1);
  return [
    { what: `a cluster of ${size} read`, unit: 's', measured: readMs / 1_000, ...(isLargest && atMost(30)) },
    { what: `heap with ${size}`, unit: 'MiB', measured: heap, ...(isLargest && atMost(4_096)) },
    { what: `a pod placed on ${size}`, unit: 'ms', measured: new Distribution(placed.slice(PLACEMENTS / 10)), ...atMost(20) },
    { what: `victims found on ${size}`, unit: 'ms', measured: new Distribution(preempted) },
  ];
}

/** Of those on nodes. */
function podAt(pods: readonly SchedulerPod[], index: number): SchedulerPod {
  const running = pods.filter(({ nodeName }) => nodeName !== '');
  const pod = running[index % running.length];
  if (pod === undefined) throw new Error('there are no pods');
  return pod;
}

interface ReadCluster {
  readonly scheduler: Scheduler;
  readonly pods: readonly SchedulerPod[];
  readonly budgets: Parameters<Scheduler['preempt']>[2];
}

function readCluster(documents: readonly Field[]): ReadCluster {
  const byKind = new Map<string, Field[]>();
  for (const document of documents) {
    const kind = textOf(member(document, 'kind'));
    const same = byKind.get(kind);
    if (same === undefined) byKind.set(kind, [document]);
    else same.push(document);
  }
  const of = (kind: string): readonly Field[] => byKind.get(kind) ?? [];
  const pods = of('Pod').map(schedulerPodAt);
  const cluster = new Cluster({
    nodes: of('Node').map(schedulerNodeAt),
    pods,
    namespaces: new Map(of('Namespace').map(namespaceAt)),
    services: of('Service').map(serviceAt),
    owners: of('ReplicaSet').map((owner) => ownerAt(owner, 'ReplicaSet')),
  });
  return { scheduler: new Scheduler(cluster), pods, budgets: of('PodDisruptionBudget').map(disruptionBudgetAt) };
}

/** The pod is taken from its node and placed again. */
function placedMs(scheduler: Scheduler, pod: SchedulerPod): number {
  scheduler.cluster.remove(pod);
  const from = performance.now();
  const { node } = scheduler.schedule({ ...pod, nodeName: '' });
  const took = performance.now() - from;
  if (node === undefined) throw new Error(`there is no node for ${pod.namespace}/${pod.name}`);
  scheduler.cluster.add(pod, pod.nodeName);
  return took;
}

/** For a pod that needs almost all of a large node. */
function preemptedMs(scheduler: Scheduler, pod: SchedulerPod, budgets: ReadCluster['budgets']): number {
  const requests = new Map([['cpu', 47_000n]]);
  const large = { ...pod, nodeName: '', priority: 1_000_000, requests };
  const result = scheduler.schedule(large);
  const from = performance.now();
  const { candidate } = scheduler.preempt(large, result, budgets);
  const took = performance.now() - from;
  if (candidate === undefined) throw new Error('there are no victims');
  return took;
}
