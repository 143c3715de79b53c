import type { ConditionType } from './signal.js';
import { tolerationsTolerateTaint, type Toleration } from './toleration.js';
import type { QosClass, Workload } from './workload.js';

/** What the rule asks of a workload that is to start. */
export interface Applicant {
  /** kubelet: types.IsCriticalPod. */
  readonly critical: boolean;
  readonly qosClass: QosClass;
  /** A machine workload has none. */
  readonly tolerations: readonly Toleration[];
}

export type Admission =
  { readonly admit: true } | { readonly admit: false; readonly reason: 'Evicted' | 'NodeShutdown'; readonly message: string };

/** The kubelet gives it to whom it evicts and to whom it does not let in (eviction/helpers.go, Reason). */
const EVICTION_REASON = 'Evicted';

/** Whoever it is, while the machine goes down (kubelet: nodeshutdown_manager_linux.go, Admit, v1.36.2). */
export const SHUTDOWN_REFUSAL: Admission = {
  admit: false,
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

const MEMORY_PRESSURE_TAINT = { key: 'node.kubernetes.io/memory-pressure', value: '', effect: 'NoSchedule' } as const;

/**
 * Whether a workload may start under the conditions of the node (kubelet: eviction_manager.go, Admit, v1.36.2).
 *
 * Where memory alone is short only best-effort workloads are refused, because they alone said nothing of what they need; any other condition
 * refuses all but the critical ones.
 *
 * @param conditions  those that are true, in the order in which the message is to list them
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
