import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { EvictionCause } from '../../core/rank/eviction-cause.js';
import type { Workload } from '../../core/workload/workload.js';
import type { SourceProblem } from './source-problem.js';

/** The pods of this node, as the API server of the cluster has reported them. Nothing here waits or throws. */
export interface NodePods {
  /** The same array while nothing has changed. */
  pods(): readonly NodePod[];
  /** Also true if the pods are those that an earlier run has saved. */
  readonly hasReported: boolean;
  /** How long ago the API server has confirmed them; undefined: never. */
  ageNs(): bigint | undefined;
  /** Why they may be out of date, or incomplete. */
  problem(): SourceProblem | undefined;
}

/**
 * `unsent`: it waits for the taint of the node, for evictd's own rate limit, or for an answer, however late. `sentNs`: there is no
 * answer since then (monotonic), and evictd waits only for a time.
 * `accepted`: the kubelet ends the pod, or it is gone. `unanswered`: evictd sends the signals itself. `refused`: the pod may not be
 * evicted now, as a sentence. With `isUnanswered`: it needs an answer, and has none.
 */
export type PodEvictionAnswer =
  | 'unsent'
  | 'accepted'
  | 'unanswered'
  | { readonly sentNs: bigint }
  | { readonly refused: string; readonly isUnanswered?: true };

export interface PodEvictionRequest {
  readonly workload: Workload;
  readonly cause: EvictionCause;
  readonly graceNs: bigint;
  /** A previous evictd may have asked already. */
  readonly isResumed: boolean;
}

/** Evictions of pods through the API server. Nothing here waits or throws. */
export interface PodEvictions {
  /** Asks for the eviction of a pod that evictd does not kill first. */
  request(asked: PodEvictionRequest): () => PodEvictionAnswer;
  /**
   * evictd sends the signal itself, and then deletes the pod, so that the kubelet does not start it again. Both is saved before the
   * signal, and that the signal was sent after it.
   *
   * @param send  returns whether it was sent
   */
  endItself(workload: Workload, send: () => boolean): void;
}
