import type { StepInput } from '../decide/step-input.js';
import { isBelow } from '../workload/cgroup.js';
import type { Candidates, Protection, WorkloadUsage } from '../workload/workload.js';
import { EVERYTHING, type OperatorPauses } from './operator-pause.js';

/** The input of a step in which workloads whose evictions are paused are protected. */
export function withPausedWorkloads<T extends Pick<StepInput, 'candidates'>>(input: T, pauses: OperatorPauses): T {
  const isOfWorkloads = pauses.size > (pauses.has(EVERYTHING) ? 1 : 0);
  return isOfWorkloads ? { ...input, candidates: () => protectedIn(input.candidates(), pauses) } : input;
}

function protectedIn(found: Candidates, pauses: OperatorPauses): Candidates {
  const { measure, managed } = found;
  const protect = (usage: WorkloadUsage): WorkloadUsage => {
    const { workload } = usage;
    const protection = workload.protection ?? pauseOf(workload, pauses);
    return protection === workload.protection ? usage : { ...usage, workload: { ...workload, protection } };
  };
  const given = found.usages;
  const usages = given.map(protect);
  return {
    ...found,
    usages,
    // It replaces an item of the given list.
    ...(measure && {
      measure: (workload) => {
        const at = usages.findIndex((usage) => usage.workload === workload);
        const stats = measure(given[at]?.workload ?? workload);
        const measured = given[at];
        if (measured !== undefined) usages[at] = protect(measured);
        return stats;
      },
    }),
    ...(managed && { managed: () => managed().map(protect) }),
  };
}

/** It is paused, is inside of a paused one, or contains one. */
function pauseOf({ path }: { readonly path: string }, pauses: OperatorPauses): Protection | undefined {
  let contains: Protection | undefined;
  for (const [paused, { workload, reason }] of pauses) {
    if (workload === undefined) continue;
    if (path === paused || isBelow(path, paused)) return { kind: 'paused', reason };
    if (isBelow(paused, path)) contains ??= { kind: 'contains', name: workload.name };
  }
  return contains;
}
