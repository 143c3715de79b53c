import { SYSTEM_CRITICAL_PRIORITY, type Protection } from '../workload/workload.js';

/** v1.PreemptionPolicy. `Never`: a workload that does not fit waits; it ends no others. */
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;
export type PreemptionPolicy = (typeof PREEMPTION_POLICIES)[number];

/** scheduling.k8s.io/v1 PriorityClass. */
export interface PriorityClass {
  readonly name: string;
  /** Higher is more important. */
  readonly value: number;
  readonly preemptionPolicy: PreemptionPolicy;
}

/** The highest value of a class that is not the system's (scheduling.HighestUserDefinablePriority). */
export const HIGHEST_CONFIGURED_PRIORITY = 1_000_000_000;

/** Names that begin with this are the system's (scheduling.SystemPriorityClassPrefix). */
export const SYSTEM_CLASS_PREFIX = 'system-';

/** The classes of every cluster (scheduling.SystemPriorityClasses). Their workloads are critical. */
export const SYSTEM_CLASSES: readonly PriorityClass[] = [
  { name: 'system-node-critical', value: SYSTEM_CRITICAL_PRIORITY + 1_000, preemptionPolicy: 'PreemptLowerPriority' },
  { name: 'system-cluster-critical', value: SYSTEM_CRITICAL_PRIORITY, preemptionPolicy: 'PreemptLowerPriority' },
];

/** kubelet: IsCriticalPodBasedOnPriority. */
export function protectionByPriority(priority: number): Protection | undefined {
  return priority >= SYSTEM_CRITICAL_PRIORITY ? { kind: 'critical' } : undefined;
}
