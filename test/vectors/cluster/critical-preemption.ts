// The kubelet's preemption for critical pods (pkg/kubelet/preemption, v1.36.2): frees the requests that are missing with the fewest and
// smallest pods, best-effort ones first.
import {
  fewestVictims,
  isPreemptable,
  type MissingResource,
  type Prioritized,
  type Requesting,
} from '../../../src/core/disruption/preemption-victims.js';

export interface PreemptionPod extends Requesting, Prioritized {
  readonly name: string;
}

/** No set of pods frees enough. */
export class PreemptionError extends Error {
  override readonly name = 'PreemptionError';
}

/**
 * @returns the pods to end, in order
 * @throws PreemptionError
 */
export function podsToPreempt(
  preemptor: PreemptionPod,
  pods: readonly PreemptionPod[],
  missing: readonly MissingResource[],
): readonly PreemptionPod[] {
  const preemptable = pods.filter((pod) => isPreemptable(preemptor, pod));
  const groups = (['BestEffort', 'Burstable', 'Guaranteed'] as const).map((qos) => preemptable.filter(({ qosClass }) => qosClass === qos));
  const { victims, unmet } = fewestVictims(groups, missing);
  if (unmet.length === 0) return victims;
  const list = unmet.map(({ resource, amount }) => `(res: ${resource}, q: ${String(amount)}), `).join('');
  throw new PreemptionError(`no set of running pods found to reclaim resources: [${list}]`);
}
