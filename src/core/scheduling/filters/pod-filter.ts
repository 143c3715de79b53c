import type { Cluster } from '../cluster/cluster.js';
import type { NodeState } from '../cluster/node-state.js';
import type { SchedulerPod, SpreadConstraint } from '../scheduler-pod.js';
import type { SchedulerProfile } from '../scheduler-profile.js';

/** Why a pod cannot run on a node now. */
export interface Rejection {
  /** The plugin; '': another plugin has named the only possible nodes. */
  readonly plugin: string;
  /** UnschedulableAndUnresolvable: preemption on this node does not help. Error: the pod gets no node, not even another one. */
  readonly code: 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Error';
  readonly reasons: readonly string[];
}

/** What plugins see of one placement. */
export interface PlacementInput {
  readonly pod: SchedulerPod;
  readonly cluster: Cluster;
  readonly profile: SchedulerProfile;
  /** The constraints of the pod, or else those of the profile. */
  readonly constraints: readonly SpreadConstraint[];
  /** Nodes without one of the topology labels get no score for the spread. */
  readonly requiresAllTopologies: boolean;
}

/** One plugin, made ready for one pod and the cluster as it is now. */
export interface PodFilter {
  /** The pod can run on no node, whatever it is (PreFilter). `check` says the same. */
  readonly refused?: Rejection;
  /** undefined: the pod may run on this node. */
  readonly check: (state: NodeState) => Rejection | undefined;
  /**
   * Makes `check` judge as if the other pod were added to the node (1) or removed from it (-1). Pods of one node are
   * moved at a time, and moved back before those of the next. Left out: only the state of the checked node counts.
   */
  readonly move?: (other: SchedulerPod, state: NodeState, sign: 1 | -1) => void;
}

/** A plugin. undefined: it rejects no node. */
export type FilterPlugin = (input: PlacementInput) => PodFilter | undefined;

export function unresolvable(plugin: string, reason: string): Rejection {
  return { plugin, code: 'UnschedulableAndUnresolvable', reasons: [reason] };
}

export function unschedulable(plugin: string, reason: string): Rejection {
  return { plugin, code: 'Unschedulable', reasons: [reason] };
}
