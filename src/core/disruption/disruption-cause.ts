/**
 * Why a workload is ended although the node is not short of anything. `taint`: it does not tolerate a NoExecute taint.
 * `eviction`: an operator asks for its eviction. `drain`: the node is drained. `preemption`: a more important workload
 * needs its room.
 */
export const DISRUPTION_REASONS = ['taint', 'eviction', 'drain', 'preemption'] as const;
export type DisruptionReason = (typeof DISRUPTION_REASONS)[number];

/** Workloads to be evicted, by id, whose eviction is not decided yet, because facts about them are outstanding. */
export type Disruptions = ReadonlyMap<string, DisruptionCause>;

/** A workload is to end, whatever the node's readings are. */
export interface DisruptionCause {
  readonly kind: 'disruption';
  readonly reason: DisruptionReason;
  /** The rest of the sentence 'evicting web with SIGTERM: …': 'an operator asked for it'. */
  readonly message: string;
  /** Between SIGTERM and SIGKILL; 0: SIGKILL at once. Left out: the workload's own, or 30 s. */
  readonly graceNs?: bigint;
  /** The user and process that asked for it: 'uid 0, process 4711 (curl)'. Left out: there was no request, or it is not known. */
  readonly by?: string | undefined;
}
