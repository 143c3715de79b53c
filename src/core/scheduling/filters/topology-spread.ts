// Spreading of pods over zones, hosts and other topologies: the hard constraints (plugins/podtopologyspread, v1.36.2).
import { findMatchingUntoleratedTaint } from '../../disruption/toleration.js';
import { selects } from '../label-selector.js';
import { matchesRequiredNodeAffinity } from '../node-affinity.js';
import type { NodeState } from '../cluster/node-state.js';
import type { SchedulerNode } from '../scheduler-node.js';
import type { SchedulerPod, SpreadConstraint } from '../scheduler-pod.js';
import { unresolvable, unschedulable, type FilterPlugin, type PlacementInput, type Rejection } from './pod-filter.js';

const SKEWED = unschedulable('PodTopologySpread', "node(s) didn't match pod topology spread constraints");
const NO_LABEL = unresolvable('PodTopologySpread', "node(s) didn't match pod topology spread constraints (missing required label)");

export function countsNode({ honorsAffinity, honorsTaints }: SpreadConstraint, pod: SchedulerPod, node: SchedulerNode): boolean {
  if (honorsAffinity && !matchesRequiredNodeAffinity(pod.requiredNodeAffinity, node)) return false;
  return !honorsTaints || findMatchingUntoleratedTaint(node.taints, pod.tolerations, ['NoSchedule', 'NoExecute']) === undefined;
}

export function hasAllTopologies({ labels }: SchedulerNode, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => labels.has(topologyKey));
}

export const podTopologySpread: FilterPlugin = (input) => {
  const hard = input.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
  if (hard.length === 0) return undefined;
  const domains = hard.map((constraint) => new SpreadDomains(constraint, hard, input));
  return {
    check: ({ node }): Rejection | undefined => {
      for (const domain of domains) {
        const problem = domain.problemOf(node);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
    move: (other, state, sign) => {
      for (const domain of domains) domain.move(other, state, sign);
    },
  };
};

/** Matching pods by topology value, for one constraint. */
class SpreadDomains {
  readonly #counts = new Map<string, number>();
  /** 1 if the constraint counts the node, by index of the node. */
  readonly #counted: Uint8Array;
  readonly #self: number;
  /** The two domains with the fewest pods, before anything is moved. */
  readonly #fewest: readonly Domain[];
  /** The domain of the node whose pods are moved. Others are as they were. */
  #moved: string | undefined;

  constructor(
    readonly constraint: SpreadConstraint,
    hard: readonly SpreadConstraint[],
    readonly input: Pick<PlacementInput, 'pod' | 'cluster'>,
  ) {
    const { pod, cluster } = input;
    const { topologyKey, selector } = constraint;
    this.#self = selects(selector, pod.labels) ? 1 : 0;
    this.#counted = new Uint8Array(cluster.nodes.length);
    for (const { node, index } of cluster.nodes) {
      if (!hasAllTopologies(node, hard) || !countsNode(constraint, pod, node)) continue;
      this.#counted[index] = 1;
      this.#counts.set(node.labels.get(topologyKey) ?? '', 0);
    }
    for (const { terminating, counts } of cluster.groups.spread(pod.namespace, selector)) {
      if (!terminating) for (const [state, count] of counts) this.#change(state, count);
    }
    this.#fewest = twoFewest(this.#counts);
  }

  problemOf({ labels }: SchedulerNode): Rejection | undefined {
    const { topologyKey, maxSkew, minDomains } = this.constraint;
    const value = labels.get(topologyKey);
    if (value === undefined) return NO_LABEL;
    const least = this.#counts.size < minDomains ? 0 : this.#least();
    return (this.#counts.get(value) ?? 0) + this.#self - least > maxSkew ? SKEWED : undefined;
  }

  /** Adds a pod (1) or removes it (-1). As in the scheduler, a terminating pod counts here. */
  move(other: SchedulerPod, state: NodeState, sign: 1 | -1): void {
    if (other.namespace !== this.input.pod.namespace || !selects(this.constraint.selector, other.labels)) return;
    this.#moved = state.node.labels.get(this.constraint.topologyKey);
    this.#change(state, sign);
  }

  #change({ node, index }: NodeState, amount: number): void {
    if (this.#counted[index] !== 1) return;
    const value = node.labels.get(this.constraint.topologyKey) ?? '';
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + amount);
  }

  #least(): number {
    const [first, second] = this.#fewest;
    const others = first?.value === this.#moved ? second : first;
    const moved = this.#moved === undefined ? undefined : this.#counts.get(this.#moved);
    return Math.min(others?.count ?? Infinity, moved ?? Infinity);
  }
}

interface Domain {
  readonly value: string;
  readonly count: number;
}

function twoFewest(counts: ReadonlyMap<string, number>): readonly Domain[] {
  let [first, second]: (Domain | undefined)[] = [];
  for (const [value, count] of counts) {
    if (first === undefined || count < first.count) [first, second] = [{ value, count }, first];
    else if (second === undefined || count < second.count) second = { value, count };
  }
  return [first, second].filter((domain) => domain !== undefined);
}
