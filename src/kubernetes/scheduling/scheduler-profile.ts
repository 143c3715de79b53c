import {
  CPU_AND_MEMORY,
  MIN_CANDIDATE_NODES,
  schedulerPlugins,
  SYSTEM_CONSTRAINTS,
  type SchedulerProfile,
  type ScoringStrategy,
  type WeightedResource,
} from '../../core/scheduling/scheduler-profile.js';
import type { PluginSets } from '../../core/scheduling/scheduler-plugins.js';
import { integerOf, isAbsent, items, member, members, textOf, type Field } from '../document.js';
import { nodeSelectorTermsAt, preferredNodeTermsAt } from './label-selector.js';
import { spreadConstraintsAt } from './scheduler-pod.js';

/** Scores of a shape are 0 to 10. */
const SHAPE_SCALE = 10n;

/**
 * Reads a profile of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1).
 *
 * @param percentage  percentageOfNodesToScore of all profiles
 * @throws DocumentError  with the path of the problem
 */
export function schedulerProfileAt(profile: Field, percentage?: Field): SchedulerProfile {
  const args = new Map(
    items(member(profile, 'pluginConfig')).map((plugin) => [textOf(member(plugin, 'name')), member(plugin, 'args')] as const),
  );
  const argument = (plugin: string, name: string): Field => {
    const all = args.get(plugin);
    return all === undefined ? { value: undefined, path: '' } : member(all, name);
  };
  const added = argument('NodeAffinity', 'addedAffinity');
  const required = member(added, 'requiredDuringSchedulingIgnoredDuringExecution');
  const systemDefaulted = textOf(argument('PodTopologySpread', 'defaultingType')) !== 'List';
  const own = member(profile, 'percentageOfNodesToScore');
  const candidates = (name: string): bigint | undefined => integerOf(argument('DefaultPreemption', name), 'int32');
  return {
    plugins: schedulerPlugins(pluginSetsAt(member(profile, 'plugins'))),
    percentageOfNodesToScore: Number(integerOf(isAbsent(own) ? (percentage ?? own) : own, 'int32') ?? 0n),
    ignoredResources: items(argument('NodeResourcesFit', 'ignoredResources')).map(textOf),
    ignoredResourceGroups: items(argument('NodeResourcesFit', 'ignoredResourceGroups')).map(textOf),
    scoringStrategy: scoringStrategyAt(argument('NodeResourcesFit', 'scoringStrategy')),
    balancedResources: resourcesAt(argument('NodeResourcesBalancedAllocation', 'resources')),
    hardPodAffinityWeight: Number(integerOf(argument('InterPodAffinity', 'hardPodAffinityWeight'), 'int32') ?? 1n),
    ignorePreferredTermsOfExistingPods: argument('InterPodAffinity', 'ignorePreferredTermsOfExistingPods').value === true,
    addedNodeTerms: nodeSelectorTermsAt(required),
    addedPreferredTerms: preferredNodeTermsAt(added),
    defaultConstraints: systemDefaulted
      ? SYSTEM_CONSTRAINTS
      : spreadConstraintsAt(argument('PodTopologySpread', 'defaultConstraints'), new Map()),
    systemDefaulted,
    minCandidateNodes: {
      percentage: Number(candidates('minCandidateNodesPercentage') ?? MIN_CANDIDATE_NODES.percentage),
      absolute: Number(candidates('minCandidateNodesAbsolute') ?? MIN_CANDIDATE_NODES.absolute),
    },
  };
}

/** v1.Plugins. */
function pluginSetsAt(plugins: Field): PluginSets {
  return Object.fromEntries(
    members(plugins).map(([point, set]) => [
      point,
      {
        enabled: items(member(set, 'enabled')).map((plugin) => ({
          name: textOf(member(plugin, 'name')),
          weight: Number(integerOf(member(plugin, 'weight'), 'int32') ?? 0n),
        })),
        disabled: items(member(set, 'disabled')).map((plugin) => textOf(member(plugin, 'name'))),
      },
    ]),
  );
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
