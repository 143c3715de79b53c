import type { Taint } from '../disruption/taint.js';
import type { SimulatedPod } from './simulated-pod.js';

/** What is done to the cluster. */
export type SimulatedAction =
  /** The memory that is available on the node; or how much less it is than now. */
  | { readonly kind: 'pressure'; readonly node: string; readonly availableBytes: bigint; readonly isChange: boolean }
  | { readonly kind: 'drain' | 'fail'; readonly node: string }
  | { readonly kind: 'taint'; readonly node: string; readonly taint: Taint }
  | { readonly kind: 'add'; readonly pods: readonly SimulatedPod[]; readonly what: string };

export type EvictionCause = 'node-pressure' | 'drain' | 'taint' | 'preemption';

/** Weighted scores by plugin. */
export type ScoreTable = ReadonlyMap<string, number>;

export interface ScoredNode {
  readonly node: string;
  readonly total: number;
  readonly scores: ScoreTable;
}

/** Times count from the start. Pods are namespace/name. */
export type TimelineEvent = { readonly atNs: bigint } & (
  | { readonly kind: 'action'; readonly action: SimulatedAction }
  /** The node changes: a taint, a condition. */
  | { readonly kind: 'node'; readonly node: string; readonly what: string }
  | {
      readonly kind: 'evicted';
      readonly pod: string;
      readonly node: string;
      readonly cause: EvictionCause;
      /** Values that decided: usage, threshold, taint, the pod that needs the place. */
      readonly reason: string;
      /** For an eviction by node pressure: the place of the pod in the order, from 1. */
      readonly rank?: number;
      readonly graceNs: bigint;
    }
  /** An eviction that a budget does not allow. `untilNs` left out: it never does. */
  | {
      readonly kind: 'refused';
      readonly pod: string;
      readonly node: string;
      readonly budgets: readonly string[];
      readonly reason: string;
      readonly untilNs?: bigint;
    }
  /** It stays where it is; `untilNs`: until then. */
  | { readonly kind: 'stays'; readonly pod: string; readonly node: string; readonly reason: string; readonly untilNs?: bigint }
  | {
      readonly kind: 'scheduled';
      readonly pod: string;
      readonly replaces?: string;
      readonly node: string;
      /** The number of feasible nodes. 0: the pod names its node. */
      readonly feasible: number;
      /** The scheduler stops when enough are possible. */
      readonly lookedAt: number;
      readonly nodes: number;
      /** The best first, the chosen one among them; at most three. */
      readonly best: readonly ScoredNode[];
    }
  /** `message`: the scheduler's. `nominated`: status.nominatedNodeName. */
  | { readonly kind: 'pending'; readonly pod: string; readonly replaces?: string; readonly message: string; readonly nominated?: string }
  | { readonly kind: 'ready'; readonly pod: string; readonly node: string }
  /** It ended, and no controller recreates it. */
  | { readonly kind: 'lost'; readonly pod: string; readonly reason: string }
);

/** An event without its time: the simulation adds the current one. */
export type EventContent = TimelineEvent extends infer E ? (E extends TimelineEvent ? Omit<E, 'atNs'> : never) : never;
