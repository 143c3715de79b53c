// Spreading of pods over zones, hosts and other topologies (plugins/podtopologyspread, v1.36.2).
import { matchesRequiredNodeAffinity, requiredNodeAffinityAt, type RequiredNodeAffinity } from '../node-affinity.js';
import { selects, type LabelSelector } from '../label-selector.js';
import { findMatchingUntoleratedTaint } from '../taint.js';
import type { ScheduledPod, SchedulerNode } from './snapshot.js';
import type { SpreadConstraint } from './spread-constraint.js';

const HOSTNAME = 'kubernetes.io/hostname';

/** For which nodes a constraint counts. */
function includes(
  { honorsAffinity, honorsTaints }: SpreadConstraint,
  pod: ScheduledPod,
  affinity: RequiredNodeAffinity,
  node: SchedulerNode,
): boolean {
  if (honorsAffinity && !matchesRequiredNodeAffinity(affinity, node)) return false;
  return !honorsTaints || findMatchingUntoleratedTaint(node.taints, pod.tolerations, ['NoSchedule', 'NoExecute'], 'off') === undefined;
}

function hasAllKeys(node: SchedulerNode, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => node.labels.has(topologyKey));
}

/** Terminating pods do not count. */
function countOf(node: SchedulerNode, selector: LabelSelector | undefined, namespace: string): number {
  return node.pods.filter((pod) => !pod.terminating && pod.namespace === namespace && selects(selector, pod.labels)).length;
}

export type SpreadProblem = 'missing-label' | 'skew';

/** undefined: the pod has no hard constraint. */
export function spreadFilter(
  pod: ScheduledPod,
  constraints: readonly SpreadConstraint[],
  nodes: readonly SchedulerNode[],
): ((node: SchedulerNode) => SpreadProblem | undefined) | undefined {
  if (constraints.length === 0) return undefined;
  const affinity = requiredNodeAffinityAt(pod.spec);
  const eligible = nodes.filter((node) => hasAllKeys(node, constraints));
  const counts = constraints.map((constraint) => {
    const byValue = new Map<string, number>();
    for (const node of eligible.filter((candidate) => includes(constraint, pod, affinity, candidate))) {
      const value = node.labels.get(constraint.topologyKey) ?? '';
      byValue.set(value, (byValue.get(value) ?? 0) + countOf(node, constraint.selector, pod.namespace));
    }
    return byValue;
  });
  return (node) => {
    for (const [index, { topologyKey, selector, minDomains, maxSkew }] of constraints.entries()) {
      const value = node.labels.get(topologyKey);
      if (value === undefined) return 'missing-label';
      const byValue = counts[index] ?? new Map<string, number>();
      const least = byValue.size < minDomains ? 0 : Math.min(...byValue.values());
      const self = selects(selector, pod.labels) ? 1 : 0;
      if ((byValue.get(value) ?? 0) + self - least > maxSkew) return 'skew';
    }
    return undefined;
  };
}

/**
 * Scores 0 to 100: the fewer matching pods, the better. undefined: the pod has no soft constraint.
 *
 * @param requiresAll  nodes without one of the topology labels get 0
 */
export function spreadScores(
  pod: ScheduledPod,
  constraints: readonly SpreadConstraint[],
  {
    all,
    feasible,
    requiresAll,
  }: { readonly all: readonly SchedulerNode[]; readonly feasible: readonly SchedulerNode[]; readonly requiresAll: boolean },
): readonly number[] | undefined {
  if (constraints.length === 0) return undefined;
  const counts = requiresAll ? (node: SchedulerNode): boolean => hasAllKeys(node, constraints) : (): boolean => true;
  const scored = feasible.filter(counts);
  const totals = constraints.map((constraint) => totalsOf(constraint, pod, scored, all.filter(counts)));
  const weights = constraints.map(({ topologyKey }, index) =>
    Math.log((topologyKey === HOSTNAME ? scored.length : (totals[index]?.size ?? 0)) + 2),
  );
  const raw = feasible.map((node) => {
    if (!counts(node)) return undefined;
    return Math.round(
      constraints.reduce((sum, { topologyKey, maxSkew, selector }, index) => {
        const value = node.labels.get(topologyKey);
        if (value === undefined) return sum;
        const count = topologyKey === HOSTNAME ? countOf(node, selector, pod.namespace) : (totals[index]?.get(value) ?? 0);
        return sum + count * (weights[index] ?? 0) + (maxSkew - 1);
      }, 0),
    );
  });
  return normalized(raw);
}

/** Matching pods by topology value, of the values that a feasible node has. Hosts are counted one by one. */
function totalsOf(
  constraint: SpreadConstraint,
  pod: ScheduledPod,
  scored: readonly SchedulerNode[],
  all: readonly SchedulerNode[],
): ReadonlyMap<string, number> {
  const { topologyKey, selector } = constraint;
  if (topologyKey === HOSTNAME) return new Map();
  const affinity = requiredNodeAffinityAt(pod.spec);
  const totals = new Map(scored.map((node) => [node.labels.get(topologyKey) ?? '', 0]));
  for (const node of all) {
    const value = node.labels.get(topologyKey) ?? '';
    const total = totals.get(value);
    if (total !== undefined && includes(constraint, pod, affinity, node)) totals.set(value, total + countOf(node, selector, pod.namespace));
  }
  return totals;
}

function normalized(raw: readonly (number | undefined)[]): readonly number[] {
  const known = raw.filter((score) => score !== undefined);
  const [least, most] = [Math.min(...known), Math.max(0, ...known)];
  return raw.map((score) => {
    if (score === undefined) return 0;
    return most === 0 ? 100 : Math.trunc((100 * (most + least - score)) / most);
  });
}
