/** A pod that waits for a node. */
export interface QueuedPod {
  readonly priority: number;
  /** When it came into the queue, in ms. */
  readonly queuedAtMs: number;
}

/** Higher priority first, then the one that has waited longer (plugins/queuesort, v1.36.2). Of equals the order stays. */
export function queueOrder<T extends QueuedPod>(pods: readonly T[]): readonly T[] {
  return [...pods].sort((one, other) => other.priority - one.priority || one.queuedAtMs - other.queuedAtMs);
}

/** Why the pod does not come into the queue; undefined: it does (plugins/schedulinggates, v1.36.2). */
export function schedulingGateReason({ schedulingGates }: { readonly schedulingGates: readonly string[] }): string | undefined {
  return schedulingGates.length === 0 ? undefined : `waiting for scheduling gates: [${schedulingGates.join(' ')}]`;
}
