import type { Toleration } from '../disruption/toleration.js';

/** What the controller reads of a pod of the cluster. */
export interface ClusterPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** '': bound to none. */
  readonly nodeName: string;
  /** 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'. */
  readonly phase: string;
  /** It has a deletionTimestamp. */
  readonly terminating: boolean;
  /** Its condition Ready is True. */
  readonly isReady: boolean;
  readonly tolerations: readonly Toleration[];
}

export function hasEnded({ phase }: Pick<ClusterPod, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
