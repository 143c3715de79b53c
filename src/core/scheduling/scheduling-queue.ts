/** A pod that waits for a node. */
export interface QueuedPod {
  readonly priority: number;
  /** When it came into the queue. */
  readonly queuedNs: bigint;
}

/** Higher priority first, then the one that has waited longer (plugins/queuesort, v1.36.2). Of equals the order stays. */
export function byQueueOrder(one: QueuedPod, other: QueuedPod): number {
  return other.priority - one.priority || Number(one.queuedNs - other.queuedNs);
}

/** Why the pod does not come into the queue; undefined: it does (plugins/schedulinggates, v1.36.2). */
export function schedulingGateReason({ schedulingGates }: { readonly schedulingGates: readonly string[] }): string | undefined {
  return schedulingGates.length === 0 ? undefined : `waiting for scheduling gates: [${schedulingGates.join(' ')}]`;
}
