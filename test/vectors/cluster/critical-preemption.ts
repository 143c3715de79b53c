// The kubelet's preemption for critical pods (pkg/kubelet/preemption, v1.36.2): frees the requests that are missing with the fewest and
// smallest pods, best-effort ones first.
import type { QosClass } from '../../../src/core/workload/workload.js';

export interface PreemptionPod {
  readonly name: string;
  /** undefined: not set. */
  readonly priority: number | undefined;
  readonly critical: boolean;
  readonly qosClass: QosClass;
  /** cpu in millicores, all else in whole units; 1 for pods. */
  readonly request: (resource: string) => bigint;
}

export interface MissingResource {
  readonly resource: string;
  readonly amount: bigint;
}

type Requirements = readonly MissingResource[];

/** No set of pods frees enough. */
export class PreemptionError extends Error {
  override readonly name = 'PreemptionError';
}

/**
 * @returns the pods to end, in order
 * @throws PreemptionError
 */
export function podsToPreempt(preemptor: PreemptionPod, pods: readonly PreemptionPod[], missing: Requirements): readonly PreemptionPod[] {
  const preemptable = pods.filter((pod) => isPreemptable(preemptor, pod));
  const ofClass = (qosClass: QosClass): readonly PreemptionPod[] => preemptable.filter((pod) => pod.qosClass === qosClass);
  const [bestEffort, burstable, guaranteed] = [ofClass('BestEffort'), ofClass('Burstable'), ofClass('Guaranteed')];
  const unmet = subtract(missing, [...bestEffort, ...burstable, ...guaranteed]);
  if (unmet.length > 0) throw notFound(unmet);
  const fromGuaranteed = byDistance(guaranteed, subtract(missing, [...bestEffort, ...burstable]));
  const fromBurstable = byDistance(burstable, subtract(missing, [...bestEffort, ...fromGuaranteed]));
  const fromBestEffort = byDistance(bestEffort, subtract(missing, [...fromBurstable, ...fromGuaranteed]));
  return [...fromBestEffort, ...fromBurstable, ...fromGuaranteed];
}

function isPreemptable(preemptor: PreemptionPod, pod: PreemptionPod): boolean {
  if (preemptor.critical && !pod.critical) return true;
  return preemptor.priority !== undefined && pod.priority !== undefined && preemptor.priority > pod.priority;
}

/** Takes away the pod that leaves least, until nothing is missing. The last pod moves into its place, which decides ties. */
function byDistance(pods: readonly PreemptionPod[], missing: Requirements): readonly PreemptionPod[] {
  const [left, chosen]: [PreemptionPod[], PreemptionPod[]] = [[...pods], []];
  for (let requirements = missing; requirements.length > 0;) {
    const best = nearest(left, requirements);
    const last = left.pop();
    if (best === undefined || last === undefined) throw notFound(requirements);
    if (best.index < left.length) left[best.index] = last;
    requirements = subtract(requirements, [best.pod]);
    chosen.push(best.pod);
  }
  return chosen;
}

/** Among equally near ones the smaller; of equals the last. */
function nearest(
  pods: readonly PreemptionPod[],
  requirements: Requirements,
): { readonly pod: PreemptionPod; readonly index: number } | undefined {
  let best: { readonly pod: PreemptionPod; readonly index: number; readonly distance: number } | undefined;
  for (const [index, pod] of pods.entries()) {
    const found = { pod, index, distance: distanceOf(pod, requirements) };
    if (best === undefined || found.distance < best.distance || (found.distance === best.distance && isNotLarger(pod, best.pod)))
      best = found;
  }
  return best;
}

/** The sum of the squares of what is left of each requirement, as shares. */
function distanceOf(pod: PreemptionPod, requirements: Requirements): number {
  return requirements.reduce((sum, { resource, amount }) => {
    const left = Number(amount - pod.request(resource));
    return left > 0 ? sum + (left / Number(amount)) ** 2 : sum;
  }, 0);
}

function isNotLarger(pod: PreemptionPod, other: PreemptionPod): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [one, two] = [pod.request(resource), other.request(resource)];
    if (one !== two) return one < two;
  }
  return true;
}

function subtract(requirements: Requirements, pods: readonly PreemptionPod[]): Requirements {
  return requirements
    .map(({ resource, amount }) => ({
      resource,
      amount: pods.reduce((left, pod) => (left > 0n ? left - pod.request(resource) : left), amount),
    }))
    .filter(({ amount }) => amount > 0n);
}

function notFound(missing: Requirements): PreemptionError {
  const list = missing.map(({ resource, amount }) => `(res: ${resource}, q: ${String(amount)}), `).join('');
  return new PreemptionError(`no set of running pods found to reclaim resources: [${list}]`);
}
