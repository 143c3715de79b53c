import { withAncestors } from '../core/cgroup.js';
import type { ShutdownGroup } from '../core/shutdown-plan.js';
import type { EndedWorkload } from '../core/shutdown-progress.js';
import { unprotected, workloadsAtShutdown } from '../core/shutdown-workloads.js';
import type { Candidates, Workload } from '../core/workload.js';
import type { Evictor } from './ports.js';
import { hasGone } from './victims.js';

/**
 * Who of a plan has ended by himself, or with somebody else, before he was told, and that it was seen now. Of who holds others these are told of.
 *
 * @param planned  the groups whose turn has come
 * @param isToldOf  by workload id: what has become of him is known already
 */
export function goneOfPlan(
  planned: readonly ShutdownGroup[],
  candidates: Candidates,
  evictor: Evictor,
  isToldOf: (id: string) => boolean,
): readonly Omit<EndedWorkload, 'serial'>[] {
  const { ended, leftAlone } = workloadsAtShutdown(candidates);
  const there = new Set([...ended, ...leftAlone.map(({ workload }) => workload)].map(({ id }) => id));
  const holding = pathsAbove(planned.flatMap(({ workloads }) => workloads));
  // Whom no source names any more may well be there.
  const isGone = (one: Workload): boolean =>
    !there.has(one.id) && !isToldOf(one.id) && !holding.has(one.path) && hasGone(evictor, unprotected(one));
  const nowNs = process.hrtime.bigint();
  const seen = { toldAtNs: nowNs, killsAtNs: nowNs, killedAtNs: undefined, result: 'gone', afterNs: 0n } as const;
  return planned.flatMap(({ workloads }, group) =>
    workloads.filter(({ workload }) => isGone(workload)).map((member) => ({ ...member, ...seen, group })),
  );
}

/** Of all cgroups that hold one of these. */
export function pathsAbove(all: readonly { readonly workload: Workload }[]): ReadonlySet<string> {
  return new Set(all.flatMap(({ workload }) => withAncestors(workload.path).slice(1)));
}
