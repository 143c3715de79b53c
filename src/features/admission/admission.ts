import type { ConditionType } from '../../core/signal/signal.js';
import { conditionTaint } from '../../core/disruption/node-taints.js';
import { taintText, type Taint } from '../../core/disruption/taint.js';
import { findMatchingUntoleratedTaint, toleratesTaint, type Toleration } from '../../core/disruption/toleration.js';
import type { QosClass, Workload } from '../../core/workload/workload.js';

/** A workload that asks to start. */
export interface Applicant {
  /** kubelet: types.IsCriticalPod. */
  readonly critical: boolean;
  readonly qosClass: QosClass;
  /** Tolerations of a pod, or those that the rules give a unit. */
  readonly tolerations: readonly Toleration[];
}

export type Admission =
  | { readonly admit: true; /** PreferNoSchedule. Left out: none. */ readonly avoids?: readonly Taint[] }
  | { readonly admit: false; readonly reason: 'Evicted' | 'NodeShutdown' | 'TaintToleration' | 'OutOfmemory'; readonly message: string };

/** The reason of evicted and of rejected pods (eviction/helpers.go, Reason). */
const EVICTION_REASON = 'Evicted';

/** The name of the predicate, as the kubelet gives it (pkg/kubelet/lifecycle/predicate.go, v1.36.2). */
const TAINT_REASON = 'TaintToleration';

/** The refusal of every workload while the machine shuts down (kubelet: nodeshutdown_manager_linux.go, Admit, v1.36.2). */
export const SHUTDOWN_REFUSAL: Admission = {
  admit: false,
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

/**
 * Decides whether a workload may start under the node's conditions (kubelet: eviction_manager.go, Admit, v1.36.2).
 * MemoryPressure alone rejects best-effort workloads only. Any other condition rejects all but critical workloads. After
 * that the taints of an operator count, as in the scheduler.
 *
 * @param conditions  those that are true, in the order for the message
 */
export function admit(conditions: readonly ConditionType[], applicant: Applicant, taints: readonly Taint[] = []): Admission {
  if (applicant.critical) return { admit: true };
  const admission = admitUnder(conditions, applicant);
  return admission.admit ? admitTo(taints, applicant) : admission;
}

function admitUnder(conditions: readonly ConditionType[], { qosClass, tolerations }: Applicant): Admission {
  if (conditions.length === 0) return { admit: true };
  const onlyMemory = conditions.length === 1 && conditions[0] === 'MemoryPressure';
  if (onlyMemory && (qosClass !== 'BestEffort' || isTolerated(conditionTaint('MemoryPressure'), tolerations))) return { admit: true };
  return { admit: false, reason: EVICTION_REASON, message: `The node had condition: [${conditions.join(' ')}]. ` };
}

/** kube-scheduler: plugins/tainttoleration, Filter and PreScore, v1.36.2. */
function admitTo(taints: readonly Taint[], { tolerations }: Applicant): Admission {
  const refusing = findMatchingUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']);
  if (refusing) return { admit: false, reason: TAINT_REASON, message: `The node had untolerated taint: ${taintText(refusing)}` };
  const avoids = taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations));
  return { admit: true, ...(avoids.length > 0 && { avoids }) };
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => toleratesTaint(toleration, taint));
}

export function applicantOf({ protection, qosClass, pod }: Workload): Applicant {
  return { critical: protection?.kind === 'critical' || protection?.kind === 'static', qosClass, tolerations: pod?.tolerations ?? [] };
}
