import type { NamedBudgetStatus } from '../../core/disruption/disruption-budget.js';
import type { ComparatorName } from '../../core/rank/rank-comparators.js';

// The JSON of `evictd explain` (docs/explain.md).

/** One operand of a threshold, with what was read. */
export interface ClauseExplanation {
  readonly signal: string;
  /** '63.5MiB < 64Mi'. */
  readonly text: string;
  readonly met: boolean | null;
  /** What is left until it is met, as text; null: it is met, or could not be read. */
  readonly left: string | null;
  /** The remaining distance as a share of the capacity, 0 to 1. */
  readonly leftRatio: number | null;
}

export interface ThresholdExplanation {
  /** 'memory.available<64Mi'. */
  readonly when: string;
  readonly kind: 'hard' | 'soft';
  readonly met: boolean | null;
  readonly clauses: readonly ClauseExplanation[];
  /** Why it evicts nothing, or that it does. */
  readonly why: string;
}

export interface PolicyExplanation {
  readonly name: string;
  /** Path of a cgroup; '': the node. */
  readonly scope: string;
  readonly condition: string;
  readonly holds: boolean | null;
  /** What its metrics are, as text; null: not known. */
  readonly readings: string | null;
  readonly why: string;
}

export interface ComparatorExplanation {
  readonly comparator: ComparatorName;
  readonly value: string;
  /** The values of the neighbours in the order; null: there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** A workload that may be evicted. */
export interface NeighbourExplanation {
  readonly name: string;
  readonly place: number;
  /** The comparator that decides the order of the two; null: they are equal. */
  readonly decidedBy: ComparatorName | null;
}

export interface WorkloadExplanation {
  readonly name: string;
  readonly path: string;
  /** Place among the evictable workloads, from 1. null: this workload is protected. */
  readonly place: number | null;
  /** How many may be evicted. */
  readonly of: number;
  /** How many evictable workloads come before this one, or would if it were not protected. */
  readonly evictedBefore: number;
  readonly comparators: readonly ComparatorExplanation[];
  readonly before: NeighbourExplanation | null;
  readonly after: NeighbourExplanation | null;
  readonly protection: {
    readonly kind: string;
    readonly because: string;
    /** The settings that protect it: 'rules[0].critical (/etc/evictd/config.yaml:3:15)'. */
    readonly setBy: readonly string[];
  } | null;
  readonly wouldChange: readonly string[];
  /** A taint or a drain evicts it, too. Left out: none does. */
  readonly disruption?: string;
  /** What its disruption budgets permit now. Left out: it has none, or no evictd guards the node. */
  readonly disruptionBudgets?: readonly NamedBudgetStatus[];
}

export interface Explanation {
  /** `evictd`: the running one. `this process`: read by the command, without grace periods, budget, pauses and growth. */
  readonly source: 'evictd' | 'this process';
  readonly node: string;
  readonly signal: string;
  readonly thresholds: readonly ThresholdExplanation[];
  readonly hasThreshold: boolean;
  readonly policies: readonly PolicyExplanation[];
  /** Among all thresholds that are not met, the one with the least left; null: none can be read. */
  readonly nearest: { readonly when: string; readonly left: string } | null;
  /** What keeps evictd from evicting anything, whatever is met. */
  readonly blockers: readonly string[];
  /** The first workload that would be evicted; null: none. */
  readonly next: { readonly name: string; readonly because: string } | null;
  /** Left out: the question was about no workload. */
  readonly workload?: WorkloadExplanation;
}
