// Spreading of pods over zones, hosts and other topologies: the soft constraints (plugins/podtopologyspread, scoring.go, v1.36.2).
import type { NodeState } from '../cluster/node-state.js';
import type { PlacementInput } from '../filters/pod-filter.js';
import { countsNode, hasAllTopologies } from '../filters/topology-spread.js';
import type { SpreadConstraint } from '../scheduler-pod.js';

const HOSTNAME = 'kubernetes.io/hostname';

interface CountedConstraint {
  readonly constraint: SpreadConstraint;
  /** The more domains there are, the more a pod in one of them counts. */
  readonly weight: number;
  /** Matching pods where the node is. */
  readonly count: (state: NodeState, value: string) => number;
}

/** Scores 0 to 100: the fewer matching pods, the better. undefined: the pod has no soft constraint. */
export function spreadScores(input: PlacementInput, feasible: readonly NodeState[]): readonly number[] | undefined {
  const constraints = input.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway');
  if (constraints.length === 0) return undefined;
  const isScored = ({ node }: NodeState): boolean => !input.requiresAllTopologies || hasAllTopologies(node, constraints);
  const scored = feasible.filter(isScored);
  const counted = constraints.map((constraint) => countedConstraint(constraint, input, scored, isScored));
  const raw = feasible.map((state) => {
    if (!isScored(state)) return undefined;
    return Math.round(
      counted.reduce((sum, { constraint: { topologyKey, maxSkew }, weight, count }) => {
        const value = state.node.labels.get(topologyKey);
        return value === undefined ? sum : sum + (count(state, value) * weight + (maxSkew - 1));
      }, 0),
    );
  });
  return normalized(raw);
}

/** Only domains of feasible nodes count. Hosts are counted one by one, whether the constraint counts the node or not. */
function countedConstraint(
  constraint: SpreadConstraint,
  { pod, cluster }: PlacementInput,
  scored: readonly NodeState[],
  isScored: (state: NodeState) => boolean,
): CountedConstraint {
  const { topologyKey, selector } = constraint;
  const groups = [...cluster.groups.spread(pod.namespace, selector)].filter(({ terminating }) => !terminating);
  if (topologyKey === HOSTNAME) {
    const count = (state: NodeState): number => groups.reduce((sum, { counts }) => sum + (counts.get(state) ?? 0), 0);
    return { constraint, count, weight: Math.log(scored.length + 2) };
  }
  const totals = new Map(scored.map(({ node }) => [node.labels.get(topologyKey) ?? '', 0]));
  const isCounted = new Map<NodeState, boolean>();
  for (const { counts } of groups) {
    for (const [state, count] of counts) {
      const value = state.node.labels.get(topologyKey) ?? '';
      const total = totals.get(value);
      if (total === undefined) continue;
      let counted = isCounted.get(state);
      if (counted === undefined) isCounted.set(state, (counted = isScored(state) && countsNode(constraint, pod, state.node)));
      if (counted) totals.set(value, total + count);
    }
  }
  return { constraint, count: (_state, value) => totals.get(value) ?? 0, weight: Math.log(totals.size + 2) };
}

function normalized(raw: readonly (number | undefined)[]): readonly number[] {
  let [least, most] = [Infinity, 0];
  for (const score of raw) if (score !== undefined) [least, most] = [Math.min(least, score), Math.max(most, score)];
  return raw.map((score) => {
    if (score === undefined) return 0;
    return most === 0 ? 100 : Math.trunc((100 * (most + least - score)) / most);
  });
}
