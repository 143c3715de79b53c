// The scheduler's default profile, with the arguments of plugins as in a KubeSchedulerConfiguration (v1.36.2).
import type { NodeSelectorTerm, PreferredNodeTerm } from './node-affinity.js';
import type { SpreadConstraint } from './scheduler-pod.js';

export interface WeightedResource {
  readonly name: string;
  readonly weight: bigint;
}

export interface UtilizationPoint {
  /** Percent. */
  readonly utilization: bigint;
  /** 0 to 100. */
  readonly score: bigint;
}

export type ScoringStrategy =
  | { readonly type: 'LeastAllocated' | 'MostAllocated'; readonly resources: readonly WeightedResource[] }
  | {
      readonly type: 'RequestedToCapacityRatio';
      readonly resources: readonly WeightedResource[];
      readonly shape: readonly UtilizationPoint[];
    };

/** Of one scheduler: what its plugins are given. */
export interface SchedulerProfile {
  /** How many nodes are looked at, in percent. 0: it depends on the size of the cluster. */
  readonly percentageOfNodesToScore: number;
  readonly ignoredResources: readonly string[];
  readonly ignoredResourceGroups: readonly string[];
  readonly scoringStrategy: ScoringStrategy;
  readonly balancedResources: readonly WeightedResource[];
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
  /** undefined: none is required. */
  readonly addedNodeTerms: readonly NodeSelectorTerm[] | undefined;
  readonly addedPreferredTerms: readonly PreferredNodeTerm[];
  readonly defaultConstraints: readonly SpreadConstraint[];
  /** The constraints are the system's, which do not ask nodes for all topology labels. */
  readonly systemDefaulted: boolean;
}

/** The resources that count if a profile names none. */
export const CPU_AND_MEMORY: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1n },
  { name: 'memory', weight: 1n },
];

/** For pods that a service or an owner selects. */
export const SYSTEM_CONSTRAINTS: readonly SpreadConstraint[] = (
  [
    ['kubernetes.io/hostname', 3],
    ['topology.kubernetes.io/zone', 5],
  ] as const
).map(([topologyKey, maxSkew]) => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable: 'ScheduleAnyway',
  minDomains: 1,
  selector: undefined,
  honorsAffinity: true,
  honorsTaints: false,
}));

/** What kube-scheduler does without configuration. */
export const DEFAULT_PROFILE: SchedulerProfile = {
  percentageOfNodesToScore: 0,
  ignoredResources: [],
  ignoredResourceGroups: [],
  scoringStrategy: { type: 'LeastAllocated', resources: CPU_AND_MEMORY },
  balancedResources: CPU_AND_MEMORY,
  hardPodAffinityWeight: 1,
  ignorePreferredTermsOfExistingPods: false,
  addedNodeTerms: undefined,
  addedPreferredTerms: [],
  defaultConstraints: SYSTEM_CONSTRAINTS,
  systemDefaulted: true,
};
