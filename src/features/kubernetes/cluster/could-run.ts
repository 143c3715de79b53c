import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import { isSameTaint, type Taint } from '../../../core/disruption/taint.js';
import { Cluster } from '../../../core/scheduling/cluster/cluster.js';
import { Scheduler, type ScheduleResult } from '../../../core/scheduling/scheduler.js';
import type { SchedulerNode } from '../../../core/scheduling/scheduler-node.js';
import { totalScore } from '../../../core/scheduling/scores/node-scores.js';
import { inClusterAccess } from '../client/in-cluster.js';
import { kubeconfigAccess } from '../client/kubeconfig.js';
import { nodeNameOf } from '../node-name.js';
import { ClusterDump } from './cluster-dump.js';
import { readLiveCluster } from './live-cluster.js';

/** Where a pod of this node could run now, as Kubernetes' scheduler places it. */
export interface CouldRun {
  /** The best node first. */
  readonly nodes: readonly { readonly node: string; readonly score: number }[];
  /** By node. */
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
  /** NAMESPACE/POD */
  readonly pod: string;
  /** For the whole answer. */
  readonly withinMs: number;
}

/** 50,000 objects. */
const MOST_PAGES = 100;
/** No filter and no score needs them. */
const WITHOUT = ['PodDisruptionBudget', 'PriorityClass', 'PodMetrics'];

/**
 * Lists the cluster with the credential of the configuration. The pod counts as gone from its node, and the node has evictd's taint.
 *
 * @returns undefined: the API server has no such pod on this node
 * @throws EvictdError  no answer in time, no permission to list nodes or pods, or too many objects
 */
export async function couldRun({ config, env, pod: path, withinMs }: CouldRunParts): Promise<CouldRun | undefined> {
  const access = config.kubeconfig === undefined ? inClusterAccess(env) : kubeconfigAccess(config.kubeconfig);
  const dump = new ClusterDump();
  await readLiveCluster(access, dump, { withinMs, mostPages: MOST_PAGES, without: WITHOUT });
  const { content, findings } = dump.cluster();
  const nodeName = nodeNameOf(config, env);
  const placed = content.pods.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed').map(({ scheduling }) => scheduling);
  const own = placed.find((pod) => `${pod.namespace}/${pod.name}` === path && pod.nodeName === nodeName);
  if (own === undefined) return undefined;
  const nodes = content.nodes.map((node) => (node.name === nodeName ? tainted(node, config.taint) : node));
  const cluster = new Cluster({ ...content, nodes, pods: placed });
  cluster.end(own);
  const again = { ...own, ...{ nodeName: '', nominatedNodeName: '', terminating: false, preempted: false } };
  cluster.volumes?.create(again);
  const unread = findings.list.filter(({ object }) => object === '').map(({ message }) => message);
  return {
    ...placesOf(new Scheduler(cluster).schedule(again, { everyNode: true })),
    of: nodes.length,
    isControlled: own.controller !== undefined,
    unread,
  };
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
