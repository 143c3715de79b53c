import type { ShutdownGroup, ShutdownWorkload } from './shutdown-plan.js';

/** When a group is asked to end, since the shutdown began, and when the next one follows. */
export interface ShutdownPhase {
  readonly group: ShutdownGroup;
  readonly startsAtNs: bigint;
  readonly endsAtNs: bigint;
}

/**
 * A group begins as soon as the last of the one before has ended, or the time of that is over; a group of nobody takes none (kubelet:
 * nodeshutdown_manager.go, killPods, v1.36.2).
 *
 * @param exitsAfterNs  how long a workload takes to end, since it was asked to
 */
export function shutdownTimeline(
  groups: readonly ShutdownGroup[],
  exitsAfterNs: (workload: ShutdownWorkload) => bigint,
): readonly ShutdownPhase[] {
  let atNs = 0n;
  return groups.map((group) => {
    const longestNs = group.workloads.map(exitsAfterNs).reduce((longest, ns) => (ns > longest ? ns : longest), 0n);
    const startsAtNs = atNs;
    const takenNs = longestNs < group.gracePeriodNs ? longestNs : group.gracePeriodNs;
    atNs += takenNs > 0n ? takenNs : 0n;
    return { group, startsAtNs, endsAtNs: atNs };
  });
}
