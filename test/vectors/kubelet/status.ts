import type { PodCondition, PodParts, Workload } from '../../../src/core/workload/workload.js';

/** The status that an evicted pod gets; the caller sets the times. */
export interface EvictedStatus {
  readonly phase: 'Failed';
  readonly reason: 'Evicted';
  readonly message: string;
  readonly conditions: readonly PodCondition[];
}

/**
 * The status that the kubelet sets when it evicts a pod (eviction_manager.go, evictPod, v1.36.2).
 *
 * @param disrupted  whether node pressure was the reason: then the condition DisruptionTarget is set, in the place of
 *   one that is there already
 */
export function evictedStatus({ pod }: Workload, message: string, disrupted: boolean): EvictedStatus {
  const status = { phase: 'Failed', reason: 'Evicted', message } as const;
  return { ...status, conditions: disrupted ? withDisruptionTarget(pod, message) : (pod?.conditions ?? []) };
}

/** The status that a pod gets when the node goes down. */
export interface ShutdownStatus {
  readonly phase: string;
  readonly reason: 'Terminated';
  readonly message: string;
  readonly conditions: readonly PodCondition[];
}

/**
 * The status that the kubelet sets when it ends a pod at a shutdown (nodeshutdown_manager.go, killPods, v1.36.2).
 *
 * @param phase  that it had: one that has succeeded stays so
 */
export function shutdownStatus({ pod }: Workload, phase: string): ShutdownStatus {
  const message = 'Pod was terminated in response to imminent node shutdown.';
  return {
    phase: phase === 'Succeeded' ? phase : 'Failed',
    reason: 'Terminated',
    message,
    conditions: withDisruptionTarget(pod, message),
  };
}

/** In the place of one that is there already. */
function withDisruptionTarget(pod: PodParts | undefined, message: string): readonly PodCondition[] {
  const before = pod?.conditions ?? [];
  const target: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    observedGeneration: pod?.generation ?? 0n,
  };
  const found = before.findIndex(({ type }) => type === target.type);
  return found < 0 ? [...before, target] : before.with(found, target);
}
