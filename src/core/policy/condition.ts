import type { MetricName } from './metric.js';

/** What a policy is about: the node, or each cgroup that its pattern matches. */
export type ScopeKind = 'node' | 'cgroup';

/**
 * A metric of the policy's scope. In a policy about cgroups also one of the node: `node.NAME`, or one that only the node has.
 * In every policy also one of a named cgroup: `cgroup(PATH).NAME`.
 */
export interface MetricReference {
  readonly name: MetricName;
  readonly of: ScopeKind;
  /** The named cgroup, below the mount; `of` is `cgroup`. Left out: the node, or the cgroup of the scope. */
  readonly path?: string;
}

export const COMPARISONS = ['<', '<=', '>', '>='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** What a metric is compared with. `text`: as it is printed. */
export type Amount =
  /** An amount in the metric's unit: bytes, inodes, processes, times, seconds. */
  | { readonly kind: 'quantity'; readonly value: number; readonly text: string }
  /** An amount per second, in the metric's unit. */
  | { readonly kind: 'rate'; readonly perSecond: number; readonly text: string }
  /** 0.4 for 40%. `of` left out: of the metric's own whole (the capacity, the wall time, the amount before the growth). */
  | { readonly kind: 'share'; readonly ratio: number; readonly of?: MetricReference; readonly text: string };

/** The time that a change is measured over. */
export interface Window {
  readonly windowNs: bigint;
}

/** A condition of a policy as a tree. */
export type Condition =
  | ({
      readonly kind: 'comparison';
      readonly metric: MetricReference;
      readonly comparison: Comparison;
      readonly amount: Amount;
      /** Left out: the metric is a level. */
    } & Partial<Window>)
  | ({ readonly kind: 'trend'; readonly metric: MetricReference; readonly direction: 'rising' | 'falling' } & Window)
  /** `cgroup(PATH) exists` is about its `age`, which every cgroup has. */
  | { readonly kind: 'exists'; readonly metric: MetricReference }
  | { readonly kind: 'not'; readonly condition: Condition }
  /** At least two. */
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] };

/** `unknown`: a value is missing, or is not known for the whole window yet. A policy acts on `true` only. */
export type Truth = boolean | 'unknown';
