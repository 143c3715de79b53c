import { withAncestors } from '../../core/workload/cgroup.js';
import { type ShutdownGroup, unprotected, workloadsAtShutdown } from './shutdown-plan.js';
import type { EndedWorkload } from './shutdown-progress.js';
import type { Candidates, Workload } from '../../core/workload/workload.js';
import type { Evictor } from '../../monitor/ports/ports.js';
import { hasWorkloadEnded } from '../../monitor/victims.js';

/**
 * Workloads of a plan that have ended before they were signalled: by themselves, or with another workload. Workloads
 * that contain others are left out: the others are reported.
 *
 * @param planned  the groups that have begun
 * @param isKnown  by workload id: its result is known already
 */
export function endedBeforeSignal(
  planned: readonly ShutdownGroup[],
  candidates: Candidates,
  evictor: Evictor,
  isKnown: (id: string) => boolean,
): readonly Omit<EndedWorkload, 'serial'>[] {
  const { ended, leftAlone } = workloadsAtShutdown(candidates);
  const there = new Set([...ended, ...leftAlone.map(({ workload }) => workload)].map(({ id }) => id));
  const holding = ancestorPaths(planned.flatMap(({ workloads }) => workloads));
  // A workload that is in no source any more may still run.
  const hasVanished = (one: Workload): boolean =>
    !there.has(one.id) && !isKnown(one.id) && !holding.has(one.path) && hasWorkloadEnded(evictor, unprotected(one));
  const nowNs = process.hrtime.bigint();
  const seen = { requestedAtNs: nowNs, killsAtNs: nowNs, killedAtNs: undefined, result: 'already-ended', afterNs: 0n } as const;
  return planned.flatMap(({ workloads }, group) =>
    workloads.filter(({ workload }) => hasVanished(workload)).map((member) => ({ ...member, ...seen, group })),
  );
}

/** The paths of all cgroups that contain one of these. */
export function ancestorPaths(all: readonly { readonly workload: Workload }[]): ReadonlySet<string> {
  return new Set(all.flatMap(({ workload }) => withAncestors(workload.path).slice(1)));
}
