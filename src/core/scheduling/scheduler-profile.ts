// The scheduler's default profile, with the arguments of plugins as in a KubeSchedulerConfiguration (v1.36.2).
import type { NodeSelectorTerm, PreferredNodeTerm } from './node-affinity.js';
import type { SpreadConstraint } from './scheduler-pod.js';
import { pluginsAt, type EnabledPlugin, type PluginSets } from './scheduler-plugins.js';

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

/** The profile of one scheduler: its plugins with their arguments. */
export interface SchedulerProfile {
  readonly plugins: SchedulerPlugins;
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
  readonly minCandidateNodes: MinCandidateNodes;
}

/** The plugins that decide. */
export interface SchedulerPlugins {
  /** Names, in the order in which they filter. */
  readonly filters: readonly string[];
  readonly scores: readonly EnabledPlugin[];
  /** DefaultPreemption is enabled. */
  readonly preempts: boolean;
}

export function schedulerPlugins(sets: PluginSets): SchedulerPlugins {
  const namesAt = (point: 'filter' | 'postFilter'): readonly string[] => pluginsAt(point, sets).map(({ name }) => name);
  return { filters: namesAt('filter'), scores: pluginsAt('score', sets), preempts: namesAt('postFilter').includes('DefaultPreemption') };
}

/** DefaultPreemptionArgs: so many candidates end the search for victims. */
export interface MinCandidateNodes {
  /** Percentage of the nodes that may help. */
  readonly percentage: number;
  readonly absolute: number;
}

/** Profiles by schedulerName. */
export type SchedulerProfiles = ReadonlyMap<string, SchedulerProfile>;

export const DEFAULT_SCHEDULER = 'default-scheduler';
export const MIN_CANDIDATE_NODES: MinCandidateNodes = { percentage: 10, absolute: 100 };

/** The resources that count if a profile names none. */
export const CPU_AND_MEMORY: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1n },
  { name: 'memory', weight: 1n },
];

/** Constraints for pods that a service or an owner selects. */
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
  plugins: schedulerPlugins({}),
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
  minCandidateNodes: MIN_CANDIDATE_NODES,
};

export const DEFAULT_PROFILES: SchedulerProfiles = new Map([[DEFAULT_SCHEDULER, DEFAULT_PROFILE]]);
