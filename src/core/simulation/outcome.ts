import type { Cluster } from '../scheduling/cluster/cluster.js';
import { firstOf, isOnNode, type LivePod } from './simulated-pod.js';
import type { TimelineEvent } from './timeline-event.js';

/** What the pods on a node book of what it has. cpu in millicores, memory in bytes. */
export interface NodeUse {
  readonly node: string;
  readonly cpu: Use;
  readonly memory: Use;
  readonly pods: Use;
}

export interface Use {
  readonly used: bigint;
  readonly allocatable: bigint;
}

export function nodeUses({ nodes }: Cluster): readonly NodeUse[] {
  return nodes.map(({ node, used, pods }) => {
    const use = (name: string): Use => ({ used: used.get(name) ?? 0n, allocatable: node.allocatable.get(name) ?? 0n });
    return { node: node.name, cpu: use('cpu'), memory: use('memory'), pods: { ...use('pods'), used: BigInt(pods.size) } };
  });
}

/** What has become of the pods, counted. */
export interface Outcome {
  /** A pod and its replacements count as one. */
  readonly evicted: number;
  /** Replacements that have a node at the end. */
  readonly moved: number;
  readonly pending: readonly string[];
  readonly lost: readonly string[];
  /** Pods whose eviction no budget allowed to the end. */
  readonly refused: readonly string[];
}

export function outcomeOf(events: readonly TimelineEvent[], pods: readonly LivePod[]): Outcome {
  const podsOf = (kind: 'pending' | 'evicted'): ReadonlySet<string> =>
    new Set(events.flatMap((event) => (event.kind === kind ? [event.pod] : [])));
  const [pending, evicted] = [podsOf('pending'), podsOf('evicted')];
  return {
    evicted: new Set(pods.filter(({ path }) => evicted.has(path)).map(firstOf)).size,
    moved: pods.filter((pod) => pod.replaces !== undefined && isOnNode(pod) && pod.stage !== 'ending').length,
    pending: pods.filter((pod) => pod.stage === 'pending' && pending.has(pod.path)).map(({ path }) => path),
    lost: events.flatMap((event) => (event.kind === 'lost' ? [event.pod] : [])),
    refused: [...refusedAtEnd(events)],
  };
}

function refusedAtEnd(events: readonly TimelineEvent[]): ReadonlySet<string> {
  const refused = new Set<string>();
  for (const event of events) {
    if (event.kind === 'refused' && event.untilNs === undefined) refused.add(event.pod);
    else if (event.kind === 'evicted') refused.delete(event.pod);
  }
  return refused;
}
