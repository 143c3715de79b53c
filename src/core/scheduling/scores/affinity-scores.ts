// Affinity and anti-affinity between pods: what is preferred (plugins/interpodaffinity, scoring.go, v1.36.2).
import type { PlacementInput } from '../filters/pod-filter.js';
import { TopologyCounts } from '../filters/topology-counts.js';
import type { NodeState } from '../cluster/node-state.js';
import type { PodGroup } from '../cluster/pod-groups.js';
import type { WeightedPodAffinityTerm } from '../scheduler-pod.js';

/** Scores 0 to 100. undefined: no term matches. */
export function affinityScores(input: PlacementInput, feasible: readonly NodeState[]): readonly number[] | undefined {
  const { pod, cluster, profile } = input;
  const { hardPodAffinityWeight: hardWeight, ignorePreferredTermsOfExistingPods: ignoresExisting } = profile;
  const { groups } = cluster;
  const [wanted, unwanted] = [pod.podAffinity.preferred, pod.podAntiAffinity.preferred];
  if (ignoresExisting && wanted.length + unwanted.length === 0) return undefined;
  const counts = new TopologyCounts();
  const add = (group: PodGroup, { topologyKey, weight }: Pick<WeightedPodAffinityTerm, 'topologyKey' | 'weight'>): void => {
    for (const [{ node }, count] of group.counts) counts.add(node, topologyKey, weight * count);
  };
  for (const term of wanted) for (const group of groups.matching(term)) add(group, term);
  for (const term of unwanted) for (const group of groups.matching(term)) add(group, { ...term, weight: -term.weight });
  for (const group of groups.about(pod.namespace)) {
    const { podAffinity, podAntiAffinity } = group;
    if (hardWeight > 0) {
      for (const term of podAffinity.required) if (groups.matches(term, pod)) add(group, { ...term, weight: hardWeight });
    }
    for (const term of podAffinity.preferred) if (groups.matches(term, pod)) add(group, term);
    for (const term of podAntiAffinity.preferred) if (groups.matches(term, pod)) add(group, { ...term, weight: -term.weight });
  }
  if (counts.isEmpty) return undefined;
  return normalized(feasible.map(({ node }) => counts.allOf(node).reduce((sum, count) => sum + count, 0)));
}

function normalized(raw: readonly number[]): readonly number[] {
  let [least, most] = [Infinity, -Infinity];
  for (const score of raw) [least, most] = [Math.min(least, score), Math.max(most, score)];
  return raw.map((score) => (most === least ? 0 : Math.trunc(100 * ((score - least) / (most - least)))));
}
