import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import { isSameTaint, type Taint } from '../../../core/disruption/taint.js';
import { Cluster } from '../../../core/scheduling/cluster/cluster.js';
import { Scheduler, type ScheduleResult } from '../../../core/scheduling/scheduler.js';
import type { SchedulerPod } from '../../../core/scheduling/scheduler-pod.js';
import type { SchedulerNode } from '../../../core/scheduling/scheduler-node.js';
import { totalScore } from '../../../core/scheduling/scores/node-scores.js';
import { inClusterAccess } from '../client/in-cluster.js';
import { kubeconfigAccess } from '../client/kubeconfig.js';
import { nodeNameOf } from '../node-name.js';
import { ClusterDump } from './cluster-dump.js';
import { readLiveCluster } from './live-cluster.js';

/** The node on which a pod of this node could run now, as Kubernetes' scheduler places it. */
export interface CouldRun {
  /** The best node first. */
  readonly nodes: readonly { readonly node: string; readonly score: number }[];
  readonly rejected: readonly { readonly node: string; readonly reasons: readonly string[] }[];
  /** How many nodes there are. */
  readonly of: number;
  /** The scheduler's, where no node fits; '': one does. */
  readonly message: string;
  /** A controller makes the pod again. */
  readonly isControlled: boolean;
  /** What the API server did not let evictd read: it does not count. */
  readonly unread: readonly string[];
}

export interface CouldRunParts {
  readonly config: KubernetesConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** NAMESPACE/POD, or the path of the pod's cgroup. */
  readonly pods: readonly string[];
  /** A drain cordons the node. */
  readonly isCordoned?: boolean;
  /** The maximum number of pages of 500 objects; left out: 100. */
  readonly mostPages?: number;
  /** Ends the request. */
  readonly signal?: AbortSignal;
  /** The timeout for the whole answer. */
  readonly withinMs: number;
}

/** 50,000 objects. */
const MAX_PAGES = 100;
/** No filter and no score needs them. */
const WITHOUT = ['PodDisruptionBudget', 'PriorityClass', 'PodMetrics'];

/**
 * Lists the cluster with the credential of the configuration. The pods count as gone from their node, and the node has evictd's taint.
 * Each gets a node before the next one, the most important first, so that all of them have room.
 *
 * @returns by the key of each request; left out: the API server has no such pod on this node
 * @throws EvictdError  no answer in time, no permission to list nodes or pods, or too many objects
 */
export async function couldRun({
  config,
  env,
  pods: asked,
  isCordoned = false,
  mostPages = MAX_PAGES,
  ...limits
}: CouldRunParts): Promise<ReadonlyMap<string, CouldRun>> {
  const access = config.kubeconfig === undefined ? inClusterAccess(env) : kubeconfigAccess(config.kubeconfig);
  const dump = new ClusterDump();
  await readLiveCluster(access, dump, { ...limits, mostPages, without: WITHOUT });
  const { content, findings } = dump.cluster();
  const nodeName = nodeNameOf(config, env);
  const placed = content.pods.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed').map(({ scheduling }) => scheduling);
  const here = placed.filter((pod) => pod.nodeName === nodeName);
  const leaving = asked
    .flatMap((name) => here.filter((pod) => isNamed(pod, name)).map((pod) => ({ name, pod })))
    .sort((one, other) => other.pod.priority - one.pod.priority);
  const cordoned = { unschedulable: true };
  const nodes = content.nodes.map((node) =>
    node.name === nodeName ? { ...tainted(node, config.taint), ...(isCordoned && cordoned) } : node,
  );
  const cluster = new Cluster({ ...content, nodes, pods: placed });
  const scheduler = new Scheduler(cluster);
  for (const { pod } of leaving) cluster.end(pod);
  const unread = findings.list.filter(({ object }) => object === '').map(({ message }) => message);
  const found = leaving.map(({ name, pod }) => {
    const again = { ...pod, ...{ nodeName: '', nominatedNodeName: '', terminating: false, preempted: false } };
    cluster.volumes?.create(again);
    const result = scheduler.schedule(again, { everyNode: true });
    if (result.node !== undefined) {
      cluster.add(again, result.node);
      cluster.reserve(again, result.node);
    }
    return [name, { ...placesOf(result), of: nodes.length, isControlled: pod.controller !== undefined, unread }] as const;
  });
  return new Map(found);
}

/** The kubelet and runtimes write the uid of a pod into the name of its cgroup, some of them with underscores. */
function isNamed({ namespace, name, uid }: SchedulerPod, asked: string): boolean {
  return asked === `${namespace}/${name}` || (uid !== '' && asked.replaceAll('_', '-').includes(`pod${uid}`));
}

function tainted(node: SchedulerNode, taint: Taint | undefined): SchedulerNode {
  if (taint === undefined) return node;
  return { ...node, taints: [...node.taints.filter((other) => !isSameTaint(other, taint)), taint] };
}

function placesOf({ scores, rejected, message }: ScheduleResult): Pick<CouldRun, 'nodes' | 'rejected' | 'message'> {
  const nodes = [...(scores ?? [])].map(([node, of]) => ({ node, score: totalScore(of) }));
  return {
    nodes: nodes.sort((one, other) => other.score - one.score),
    rejected: [...rejected].map(([node, { reasons }]) => ({ node, reasons })),
    message,
  };
}
