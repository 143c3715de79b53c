// The scheduler's default profile, with the arguments of plugins as in a KubeSchedulerConfiguration (v1.36.2).
import { integerOf, isAbsent, items, member, textOf, type Field } from '../../../../src/kubernetes/document.js';
import { nodeSelectorTermAt, nodeSelectorTermsAt, type NodeSelectorTerm } from '../node-affinity.js';
import { spreadConstraintsAt, type SpreadConstraint } from './spread-constraint.js';

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

export interface PreferredTerm {
  readonly weight: number;
  readonly term: NodeSelectorTerm;
}

export interface SchedulerProfile {
  readonly ignoredResources: readonly string[];
  readonly ignoredResourceGroups: readonly string[];
  readonly scoringStrategy: ScoringStrategy;
  readonly balancedResources: readonly WeightedResource[];
  readonly hardPodAffinityWeight: number;
  readonly ignorePreferredTermsOfExistingPods: boolean;
  /** undefined: none is required. */
  readonly addedNodeTerms: readonly NodeSelectorTerm[] | undefined;
  readonly addedPreferredTerms: readonly PreferredTerm[];
  readonly defaultConstraints: readonly SpreadConstraint[];
  /** The constraints are the system's, which do not ask nodes for all topology labels. */
  readonly systemDefaulted: boolean;
}

const CPU_AND_MEMORY: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1n },
  { name: 'memory', weight: 1n },
];

/** Scores of a shape are 0 to 10. */
const SHAPE_SCALE = 10n;

export function profileAt(input: Field): SchedulerProfile {
  const args = new Map(
    items(member(input, 'pluginConfig')).map((plugin) => [textOf(member(plugin, 'name')), member(plugin, 'args')] as const),
  );
  const argument = (plugin: string, name: string): Field => {
    const all = args.get(plugin);
    return all === undefined ? { value: undefined, path: '' } : member(all, name);
  };
  const added = argument('NodeAffinity', 'addedAffinity');
  const required = member(added, 'requiredDuringSchedulingIgnoredDuringExecution');
  const systemDefaulted = textOf(argument('PodTopologySpread', 'defaultingType')) !== 'List';
  return {
    ignoredResources: items(argument('NodeResourcesFit', 'ignoredResources')).map(textOf),
    ignoredResourceGroups: items(argument('NodeResourcesFit', 'ignoredResourceGroups')).map(textOf),
    scoringStrategy: scoringStrategyAt(argument('NodeResourcesFit', 'scoringStrategy')),
    balancedResources: resourcesAt(argument('NodeResourcesBalancedAllocation', 'resources')),
    hardPodAffinityWeight: Number(integerOf(argument('InterPodAffinity', 'hardPodAffinityWeight'), 'int32') ?? 1n),
    ignorePreferredTermsOfExistingPods: argument('InterPodAffinity', 'ignorePreferredTermsOfExistingPods').value === true,
    addedNodeTerms: isAbsent(required) ? undefined : nodeSelectorTermsAt(member(required, 'nodeSelectorTerms')),
    addedPreferredTerms: preferredTermsAt(added),
    defaultConstraints: systemDefaulted
      ? SYSTEM_CONSTRAINTS
      : spreadConstraintsAt(argument('PodTopologySpread', 'defaultConstraints'), new Map()),
    systemDefaulted,
  };
}

const SYSTEM_CONSTRAINTS: readonly SpreadConstraint[] = (
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

/** Terms without requirements, or without weight, do not count. */
export function preferredTermsAt(nodeAffinity: Field): readonly PreferredTerm[] {
  return items(member(nodeAffinity, 'preferredDuringSchedulingIgnoredDuringExecution'))
    .map((preferred) => ({
      weight: Number(integerOf(member(preferred, 'weight'), 'int32') ?? 0n),
      term: nodeSelectorTermAt(member(preferred, 'preference')),
    }))
    .filter(({ weight, term }) => weight !== 0 && term.expressions.length + term.fields.length > 0);
}

function scoringStrategyAt(strategy: Field): ScoringStrategy {
  const resources = resourcesAt(member(strategy, 'resources'));
  const type = textOf(member(strategy, 'type')) || 'LeastAllocated';
  if (type === 'RequestedToCapacityRatio') {
    const shape = items(member(member(strategy, 'requestedToCapacityRatio'), 'shape')).map((point) => ({
      utilization: integerOf(member(point, 'utilization'), 'int32') ?? 0n,
      score: (integerOf(member(point, 'score'), 'int32') ?? 0n) * SHAPE_SCALE,
    }));
    return { type, resources, shape };
  }
  return { type: type === 'MostAllocated' ? type : 'LeastAllocated', resources };
}

function resourcesAt(list: Field): readonly WeightedResource[] {
  const found = items(list).map((resource) => ({
    name: textOf(member(resource, 'name')),
    weight: integerOf(member(resource, 'weight'), 'int64') ?? 1n,
  }));
  return found.length === 0 ? CPU_AND_MEMORY : found.map((resource) => (resource.weight === 0n ? { ...resource, weight: 1n } : resource));
}
