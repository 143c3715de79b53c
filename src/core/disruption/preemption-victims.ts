import type { QosClass } from '../workload/workload.js';

/** The requested resources: cpu in millicores, others in whole units. */
export interface Requesting {
  readonly request: (resource: string) => bigint;
}

/** How important it is. */
export interface Prioritized {
  /** undefined: not set. */
  readonly priority: number | undefined;
  readonly critical: boolean;
  readonly qosClass: QosClass;
}

export interface MissingResource {
  readonly resource: string;
  readonly amount: bigint;
}

type Requirements = readonly MissingResource[];

/** Whether a pod that does not fit may end the other one (pkg/kubelet/types/pod_update.go, Preemptable, v1.36.2). */
export function isPreemptable(preemptor: Omit<Prioritized, 'qosClass'>, pod: Omit<Prioritized, 'qosClass'>): boolean {
  if (preemptor.critical && !pod.critical) return true;
  return preemptor.priority !== undefined && pod.priority !== undefined && preemptor.priority > pod.priority;
}

/**
 * The fewest that free what is missing (pkg/kubelet/preemption, getPodsToPreempt, v1.36.2): of each group, the most
 * important first, only as many as the less important groups leave missing, the smallest that are enough.
 *
 * @param groups  the least important first
 * @returns `unmet` is not empty: all of them together free too little, and there are no victims
 */
export function fewestVictims<T extends Requesting>(
  groups: readonly (readonly T[])[],
  missing: Requirements,
): { readonly victims: readonly T[]; readonly unmet: Requirements } {
  const unmet = subtract(missing, groups.flat());
  if (unmet.length > 0) return { victims: [], unmet };
  const victims = groups.reduceRight<readonly T[]>((chosen, group, index) => {
    const others = [...groups.slice(0, index).flat(), ...chosen];
    return [...byDistance(group, subtract(missing, others)), ...chosen];
  }, []);
  return { victims, unmet };
}

/**
 * Takes away the one that leaves least, until nothing is missing. The last one moves into its place, which decides ties.
 *
 * @param group  all of it frees enough
 */
function byDistance<T extends Requesting>(group: readonly T[], missing: Requirements): readonly T[] {
  const [left, chosen]: [T[], T[]] = [[...group], []];
  for (let requirements = missing; requirements.length > 0;) {
    const best = nearest(left, requirements);
    const last = left.pop();
    if (best === undefined || last === undefined) break;
    if (best.index < left.length) left[best.index] = last;
    requirements = subtract(requirements, [best.found]);
    chosen.push(best.found);
  }
  return chosen;
}

/** The nearest workload; of equally near ones the smaller, of equal ones the last. */
function nearest<T extends Requesting>(
  group: readonly T[],
  requirements: Requirements,
): { readonly found: T; readonly index: number } | undefined {
  let best: { readonly found: T; readonly index: number; readonly distance: number } | undefined;
  for (const [index, found] of group.entries()) {
    const distance = distanceOf(found, requirements);
    if (best === undefined || distance < best.distance || (distance === best.distance && isNotLarger(found, best.found)))
      best = { found, index, distance };
  }
  return best;
}

/** The sum of the squares of what is left of each requirement, as shares. */
function distanceOf({ request }: Requesting, requirements: Requirements): number {
  return requirements.reduce((sum, { resource, amount }) => {
    const left = Number(amount - request(resource));
    return left > 0 ? sum + (left / Number(amount)) ** 2 : sum;
  }, 0);
}

function isNotLarger(one: Requesting, other: Requesting): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [first, second] = [one.request(resource), other.request(resource)];
    if (first !== second) return first < second;
  }
  return true;
}

function subtract(requirements: Requirements, freed: readonly Requesting[]): Requirements {
  return requirements
    .map(({ resource, amount }) => ({
      resource,
      amount: freed.reduce((left, { request }) => (left > 0n ? left - request(resource) : left), amount),
    }))
    .filter(({ amount }) => amount > 0n);
}
