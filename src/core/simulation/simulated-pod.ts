import type { SchedulerPod } from '../scheduling/scheduler-pod.js';
import type { Workload } from '../workload/workload.js';

/** v1.PodStatus.phase. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** A pod of a dump: as the scheduler sees it, as the kubelet ranks it, and what the simulation needs beside. */
export interface SimulatedPod {
  readonly scheduling: SchedulerPod;
  readonly workload: Workload;
  readonly phase: PodPhase;
  readonly ready: boolean;
  /** Working set; undefined: not known. */
  readonly memoryBytes: bigint | undefined;
}

/** `starting`: on a node, not ready yet. `ending`: it has its grace period. `finished`: it had ended before. */
export type PodStage = 'pending' | 'starting' | 'running' | 'ending' | 'ended' | 'finished';

/** A pod during the simulation. */
export interface LivePod {
  readonly pod: SimulatedPod;
  /** namespace/name */
  readonly path: string;
  stage: PodStage;
  /** undefined: on no node yet. */
  node: string | undefined;
  /** It was ready in the simulation. */
  hasRun?: true;
  /** The value that the cluster of the scheduler has. */
  scheduling: SchedulerPod;
  /** When it came into the queue. */
  queuedNs: bigint;
  /** The pod that its controller made in its place. */
  replacedBy?: LivePod;
  /** The pod that it was made for. */
  readonly replaces?: LivePod;
}

/** Follows the replacements. */
export function lastOf(pod: LivePod): LivePod {
  let last = pod;
  while (last.replacedBy !== undefined) last = last.replacedBy;
  return last;
}

/** The pod that the first of them was made for. */
export function firstOf(pod: LivePod): LivePod {
  let first = pod;
  while (first.replaces !== undefined) first = first.replaces;
  return first;
}

/** A pod that uses its node, also one that is ending. */
export function isOnNode({ stage }: LivePod): boolean {
  return stage === 'starting' || stage === 'running' || stage === 'ending';
}

/** Its pods are made again under their own names, when the old ones are gone. */
export const KEEPS_NAME = 'StatefulSet';
/** Why there is no replacement elsewhere, by the kind of the owner. A mirror pod is owned by its node. */
export const ON_ITS_NODE: Readonly<Partial<Record<string, string>>> = {
  DaemonSet: 'its DaemonSet recreates it on this node only',
  Node: 'the kubelet makes a static pod again on this node only',
};

/** Whether its controller replaces it while the old pod still ends. */
export function isReplacedAtOnce({ scheduling: { controller } }: LivePod): boolean {
  return controller !== undefined && controller.kind !== KEEPS_NAME && ON_ITS_NODE[controller.kind] === undefined;
}
