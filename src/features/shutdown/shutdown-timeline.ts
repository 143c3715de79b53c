import { withAncestors } from '../../core/workload/cgroup.js';
import type { ShutdownGroup, ShutdownWorkload } from './shutdown-plan.js';

/** Start and end of a group, since the shutdown began. */
export interface ShutdownPhase {
  readonly group: ShutdownGroup;
  readonly startsAtNs: bigint;
  readonly endsAtNs: bigint;
}

/**
 * A group begins when the last workload of the one before has ended, or that group's time is over. An empty group takes
 * no time (kubelet: nodeshutdown_manager.go, killPods, v1.36.2).
 *
 * @param exitsAfterNs  how long a workload takes to end
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

/** The latest possible: every workload uses its time, and a parent is asked after its children have ended. */
export function latestTimeline(groups: readonly ShutdownGroup[]): readonly ShutdownPhase[] {
  const exits = new Map(groups.flatMap(latestExits));
  return shutdownTimeline(groups, (workload) => exits.get(workload) ?? 0n);
}

function latestExits({ workloads }: ShutdownGroup): readonly (readonly [ShutdownWorkload, bigint])[] {
  const below = new Map<string, bigint>();
  const innermostFirst = [...workloads].sort((a, b) => b.workload.path.length - a.workload.path.length);
  return innermostFirst.map((one) => {
    const exitNs = one.gracePeriodNs + (below.get(one.workload.path) ?? 0n);
    for (const above of withAncestors(one.workload.path).slice(1)) {
      if (exitNs > (below.get(above) ?? 0n)) below.set(above, exitNs);
    }
    return [one, exitNs] as const;
  });
}
