import type { PodCondition, Workload } from '../core/workload.js';

/** The status that an evicted pod gets; times are left to who writes it. */
export interface EvictedStatus {
  readonly phase: 'Failed';
  readonly reason: 'Evicted';
  readonly message: string;
  readonly conditions: readonly PodCondition[];
}

/**
 * The status that the kubelet sets when it evicts a pod (eviction_manager.go, evictPod, v1.36.2).
 *
 * @param disrupted  whether node pressure was the reason: then the condition DisruptionTarget is set, in the place of one that is there already
 */
export function evictedStatus({ pod }: Workload, message: string, disrupted: boolean): EvictedStatus {
  const before = pod?.conditions ?? [];
  const status = { phase: 'Failed', reason: 'Evicted', message } as const;
  if (!disrupted) return { ...status, conditions: before };
  const target: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    observedGeneration: pod?.generation ?? 0n,
  };
  const found = before.findIndex(({ type }) => type === target.type);
  return { ...status, conditions: found < 0 ? [...before, target] : before.with(found, target) };
}
