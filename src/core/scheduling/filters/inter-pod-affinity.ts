// Affinity and anti-affinity between pods: what is required (plugins/interpodaffinity, v1.36.2).
import type { PodGroup, PodGroups } from '../cluster/pod-groups.js';
import type { PodAffinityTerm, SchedulerPod } from '../scheduler-pod.js';
import { unresolvable, unschedulable, type FilterPlugin, type Rejection } from './pod-filter.js';
import { TopologyCounts } from './topology-counts.js';

const NOT_NEAR = unresolvable('InterPodAffinity', "node(s) didn't match pod affinity rules");
const TOO_NEAR = unschedulable('InterPodAffinity', "node(s) didn't match pod anti-affinity rules");
const REPELLED = unschedulable('InterPodAffinity', "node(s) didn't satisfy existing pods anti-affinity rules");

export const interPodAffinity: FilterPlugin = ({ pod, cluster: { groups } }) => {
  const [wanted, unwanted] = [pod.podAffinity.required, pod.podAntiAffinity.required];
  // Pods that all wanted terms match, that an unwanted term matches, and whose own anti-affinity is about this pod.
  const [near, far, repelling] = [new TopologyCounts(), new TopologyCounts(), new TopologyCounts()];
  const finds = (term: PodAffinityTerm, other: Related): boolean => groups.finds(term, other);
  const keysOf = (other: Related): readonly (readonly [TopologyCounts, string])[] => [
    ...(wanted.every((term) => finds(term, other)) ? wanted.map(({ topologyKey }) => [near, topologyKey] as const) : []),
    ...unwanted.filter((term) => finds(term, other)).map(({ topologyKey }) => [far, topologyKey] as const),
    ...other.podAntiAffinity.required
      .filter((term) => groups.matches(term, pod))
      .map(({ topologyKey }) => [repelling, topologyKey] as const),
  ];
  for (const group of relatedGroups(groups, pod.namespace, [...wanted.slice(0, 1), ...unwanted])) {
    for (const [counts, topologyKey] of keysOf(group)) for (const [{ node }, count] of group.counts) counts.add(node, topologyKey, count);
  }
  // As in the scheduler; the anti-affinity of pods that are moved in later is overlooked then.
  if (wanted.length === 0 && unwanted.length === 0 && repelling.isEmpty) return undefined;
  const attractsItself = wanted.every((term) => finds(term, pod));
  return {
    check: ({ node }): Rejection | undefined => {
      if (!wanted.every(({ topologyKey }) => node.labels.has(topologyKey))) return NOT_NEAR;
      // The first pod of a group that wants to be together may go anywhere.
      if (!wanted.every(({ topologyKey }) => near.of(node, topologyKey) > 0) && !(attractsItself && near.isZero)) return NOT_NEAR;
      if (unwanted.some(({ topologyKey }) => far.of(node, topologyKey) > 0)) return TOO_NEAR;
      return repelling.allOf(node).some((count) => count > 0) ? REPELLED : undefined;
    },
    move: (other, { node }, sign) => {
      for (const [counts, topologyKey] of keysOf(other)) counts.add(node, topologyKey, sign);
    },
  };
};

type Related = Pick<SchedulerPod, 'namespace' | 'labels' | 'podAntiAffinity'>;

/** The groups that a term matches, and the groups with terms of their own. */
function relatedGroups(groups: PodGroups, namespace: string, terms: readonly PodAffinityTerm[]): ReadonlySet<PodGroup> {
  return new Set([...groups.about(namespace), ...terms.flatMap((term) => [...groups.matching(term)])]);
}
