import type { Condition } from './condition.js';

/** What `by` compares of candidates, the largest first. Behind them comes the total order of evictions. */
export const COMPARATORS = ['size', 'anon', 'growth', 'swap', 'pgscan', 'pressure', 'io', 'priority', 'oom_score'] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** The value that memory.high gets. `usage`: what the cgroup uses at that moment; `share`: 0.9 of it for 90%. */
export type ThrottleLimit =
  { readonly kind: 'usage' } | { readonly kind: 'quantity'; readonly bytes: bigint } | { readonly kind: 'share'; readonly ratio: number };

/** An action of a policy. The next step follows only if the condition still holds when its time is over. */
export type LadderStep =
  /** It takes no time. */
  | { readonly kind: 'notify' }
  /** argv; the program's path is absolute. It takes until its end, at most `timeoutNs`. */
  | { readonly kind: 'run'; readonly command: readonly string[]; readonly timeoutNs: bigint }
  | { readonly kind: 'reclaim'; readonly memoryBytes: bigint; readonly withinNs: bigint }
  | { readonly kind: 'throttle'; readonly memoryHigh: ThrottleLimit; readonly forNs: bigint }
  | { readonly kind: 'freeze'; readonly forNs: bigint }
  | ({ readonly kind: 'stop'; readonly graceNs: bigint } & VictimChoice)
  | ({
      readonly kind: 'kill';
      /** `process`: one process of the workload that is chosen. */
      readonly unit: 'workload' | 'process';
      /** Descends into the cgroup that compares highest, level by level, instead of comparing all leaves. */
      readonly recursive: boolean;
    } & VictimChoice);

interface VictimChoice {
  /** In order. Empty: only the total order of evictions. */
  readonly by: readonly Comparator[];
}

export type LadderStepKind = LadderStep['kind'];

/** A policy of the configuration: what to watch, and what to do about it. */
export interface ConfiguredPolicy {
  /** Unique. */
  readonly name: string;
  /** A glob of cgroup paths; each match is judged by itself. Left out: the node. */
  readonly scope?: { readonly cgroup: string };
  readonly when: Condition;
  /** For how long `when`, and not `unless`, must hold without interruption. */
  readonly forNs: bigint;
  readonly unless?: Condition;
  /** After a ladder has ended, no new one begins for this policy and scope. */
  readonly cooldownNs: bigint;
  /** At least one. `kill` is the last. */
  readonly then: readonly LadderStep[];
}
