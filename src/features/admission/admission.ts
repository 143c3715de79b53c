import type { ConditionType } from '../../core/signal/signal.js';
import { tolerationsTolerateTaint, type Toleration } from '../../core/workload/toleration.js';
import type { QosClass, Workload } from '../../core/workload/workload.js';

/** A workload that asks to start. */
export interface Applicant {
  /** kubelet: types.IsCriticalPod. */
  readonly critical: boolean;
  readonly qosClass: QosClass;
  /** Empty for a machine workload. */
  readonly tolerations: readonly Toleration[];
}

export type Admission =
  { readonly admit: true } | { readonly admit: false; readonly reason: 'Evicted' | 'NodeShutdown'; readonly message: string };

/** For evicted and for rejected pods (eviction/helpers.go, Reason). */
const EVICTION_REASON = 'Evicted';

/** For every workload while the machine shuts down (kubelet: nodeshutdown_manager_linux.go, Admit, v1.36.2). */
export const SHUTDOWN_REFUSAL: Admission = {
  admit: false,
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

const MEMORY_PRESSURE_TAINT = { key: 'node.kubernetes.io/memory-pressure', value: '', effect: 'NoSchedule' } as const;

/**
 * Decides whether a workload may start under the node's conditions (kubelet: eviction_manager.go, Admit, v1.36.2).
 * MemoryPressure alone rejects best-effort workloads only. Any other condition rejects all but critical workloads.
 *
 * @param conditions  those that are true, in the order for the message
 */
export function admit(conditions: readonly ConditionType[], { critical, qosClass, tolerations }: Applicant): Admission {
  if (conditions.length === 0 || critical) return { admit: true };
  const onlyMemory = conditions.length === 1 && conditions[0] === 'MemoryPressure';
  if (onlyMemory && (qosClass !== 'BestEffort' || tolerationsTolerateTaint(tolerations, MEMORY_PRESSURE_TAINT))) return { admit: true };
  return { admit: false, reason: EVICTION_REASON, message: `The node had condition: [${conditions.join(' ')}]. ` };
}

export function applicantOf({ protection, qosClass, pod }: Workload): Applicant {
  return { critical: protection?.kind === 'critical' || protection?.kind === 'static', qosClass, tolerations: pod?.tolerations ?? [] };
}
