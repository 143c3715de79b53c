import type { DisruptionReason } from '../disruption/disruption-cause.js';
import type { EvictionCause } from '../rank/eviction-cause.js';
import type { RankedWorkload } from '../rank/rank.js';
import { thresholdKind } from '../threshold/threshold.js';
import type { KubernetesConfig } from './kubernetes-config.js';

/**
 * How a pod is ended. `kill`: its processes get SIGKILL, and the condition DisruptionTarget and DELETE follow: nothing waits for the
 * API server. `evict`: by the Eviction API, which respects budgets. `delete`: by the condition and DELETE with the grace period,
 * which ask no budget.
 */
export type PodEvictionWay = 'kill' | 'evict' | 'delete';

/**
 * Node pressure: as the kubelet for a hard threshold and a storage limit, and within budgets for a soft threshold. A NoExecute taint
 * asks no budget (pkg/controller/tainteviction, addConditionAndDeletePod), and neither does the kubelet for a preemption
 * (pkg/kubelet/preemption, evictPodsToFreeRequests, v1.36.2).
 *
 * @param budgets  left out: they are respected
 */
export function podEvictionWay(cause: EvictionCause, budgets: KubernetesConfig['budgets'] = 'respect'): PodEvictionWay {
  const way = evictionWay(cause);
  return way === 'evict' && budgets === 'ignore' ? 'delete' : way;
}

const OF_DISRUPTIONS: Readonly<Record<DisruptionReason, PodEvictionWay>> = {
  ...{ eviction: 'evict', drain: 'evict', taint: 'delete', preemption: 'delete' },
};

function evictionWay(cause: EvictionCause): PodEvictionWay {
  switch (cause.kind) {
    case 'threshold':
      return thresholdKind(cause.threshold) === 'hard' ? 'kill' : 'evict';
    case 'storage-limit':
      return 'kill';
    case 'policy':
      return cause.graceNs > 0n ? 'evict' : 'kill';
    case 'disruption':
      return OF_DISRUPTIONS[cause.reason];
  }
}

/**
 * Whether a pod gets no signal without an answer of the Eviction API. Node pressure does not wait for one. A drain and the eviction of an
 * operator are tried again later: a budget or an admission webhook that was not asked might refuse them.
 *
 * @param budgets  as in podEvictionWay
 */
export function needsAnswer(cause: EvictionCause, budgets?: KubernetesConfig['budgets']): boolean {
  return cause.kind === 'disruption' && podEvictionWay(cause, budgets) === 'evict';
}

/** The reason in the condition DisruptionTarget. Those of the kubelet, and of the taint manager (pkg/apis/core/types.go). */
export function disruptionTargetReason(cause: EvictionCause): string {
  return cause.kind === 'disruption' && cause.reason === 'taint' ? 'DeletionByTaintManager' : 'TerminationByKubelet';
}

/** The API server deletes a pod at once for 0 s, while its processes still run (kubectl delete --grace-period=0 sends 1 s, too). */
const MIN_GRACE_NS = 1_000_000_000n;

/** The grace period of an eviction: where the API server gets it at least a second. */
export function withMinGrace(cause: EvictionCause, victim: Pick<RankedWorkload, 'workload' | 'process'>, graceNs: bigint): bigint {
  const isAsked = victim.workload.kubernetes !== undefined && victim.process === undefined && podEvictionWay(cause) !== 'kill';
  return isAsked && graceNs < MIN_GRACE_NS ? MIN_GRACE_NS : graceNs;
}
