import type { PodClaim } from '../devices/resource-claim.js';
import type { Toleration } from '../disruption/toleration.js';
import type { PodVolume } from '../volumes/cluster-volumes.js';
import type { PreemptionPolicy } from '../disruption/priority-class.js';
import type { HostPort } from './host-port.js';
import type { LabelSelector, Labels } from './label-selector.js';
import type { PreferredNodeTerm, RequiredNodeAffinity } from './node-affinity.js';
import type { Amounts } from './node-fit.js';

/** A pod as the scheduler sees it: v1.Pod, read once. The same value is the same pod. */
export interface SchedulerPod {
  readonly name: string;
  readonly namespace: string;
  /** '': not known. */
  readonly uid: string;
  readonly labels: Labels;
  /** spec.nodeName; '': the scheduler chooses. */
  readonly nodeName: string;
  /** status.nominatedNodeName; '': none. */
  readonly nominatedNodeName: string;
  /** The scheduler that chooses its node. */
  readonly schedulerName: string;
  readonly priority: number;
  readonly preemptionPolicy: PreemptionPolicy;
  /** Names, in order. Not empty: it waits. */
  readonly schedulingGates: readonly string[];
  /** It is being deleted. */
  readonly terminating: boolean;
  /** It is being deleted because the scheduler preempts it. */
  readonly preempted: boolean;
  /** status.startTime in ns since 1970; undefined: it has not started. */
  readonly startNs: bigint | undefined;
  /** The owner that controls it. */
  readonly controller: ControllerReference | undefined;
  readonly tolerations: readonly Toleration[];
  readonly requiredNodeAffinity: RequiredNodeAffinity;
  readonly preferredNodeTerms: readonly PreferredNodeTerm[];
  readonly podAffinity: PodAffinity;
  readonly podAntiAffinity: PodAffinity;
  readonly spreadConstraints: readonly SpreadConstraint[];
  readonly hostPorts: readonly HostPort[];
  /** What its node must declare. */
  readonly requiredFeatures: readonly string[];
  /** spec.volumes with claims. */
  readonly volumes: readonly PodVolume[];
  /** Images of init containers, containers and image volumes, with a tag. */
  readonly images: readonly string[];
  /** What it books on its node. */
  readonly requests: Amounts;
  /** A container without a request for cpu or memory counts 100m or 200Mi. */
  readonly nonZeroRequests: Amounts;
  /** As `nonZeroRequests`, without pod-level resources: what the score of free resources counts. */
  readonly scoredRequests: Amounts;
  readonly resourceClaims: readonly PodClaim[];
}

export interface ControllerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** v1.PodAffinity or v1.PodAntiAffinity. */
export interface PodAffinity {
  readonly required: readonly PodAffinityTerm[];
  readonly preferred: readonly WeightedPodAffinityTerm[];
}

/** v1.PodAffinityTerm. */
export interface PodAffinityTerm {
  /** The selector with the requirements that `matchLabelKeys` and `mismatchLabelKeys` add. */
  readonly selector: LabelSelector | undefined;
  /** Namespaces; if the term names none and has no selector of them, the pod's own. */
  readonly namespaces: readonly string[];
  readonly namespaceSelector: LabelSelector | undefined;
  readonly topologyKey: string;
}

export interface WeightedPodAffinityTerm extends PodAffinityTerm {
  readonly weight: number;
}

/** v1.TopologySpreadConstraint. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly minDomains: number;
  /** The selector with the requirements that `matchLabelKeys` adds. */
  readonly selector: LabelSelector | undefined;
  /** nodeAffinityPolicy */
  readonly honorsAffinity: boolean;
  /** nodeTaintsPolicy */
  readonly honorsTaints: boolean;
}

/** policy/v1 PodDisruptionBudget, as preemption counts it. */
export interface PodDisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Names of pods whose eviction the budget has seen. */
  readonly disruptedPods: ReadonlySet<string>;
}
