import type { PolicyHooks } from '../hook/hook.js';
import type { Condition } from './condition.js';

/** What `by` compares of candidates, the largest first. Behind them comes the total order of evictions. */
export const COMPARATORS = ['size', 'anon', 'growth', 'swap', 'pgscan', 'pressure', 'io', 'priority', 'oom_score'] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** The value that memory.high gets. `usage`: what the cgroup uses at that moment; `share`: 0.9 of it for 90%. */
export type ThrottleLimit =
  | { readonly kind: 'usage' }
  | { readonly kind: 'quantity'; readonly bytes: bigint }
  | { readonly kind: 'share'; readonly ratio: number };

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
      /** Descends into the cgroup that compares highest, level by level, instead of comparing all leaves. */
      readonly recursive: boolean;
    } & VictimChoice);

interface VictimChoice {
  /** `process`: one process of the workloads of the scope, and not its workload. */
  readonly unit: 'workload' | 'process';
  /** Comparators in order. Empty: only the total order of evictions. */
  readonly by: readonly Comparator[];
}

export type LadderStepKind = LadderStep['kind'];

/** A glob of cgroup paths; or the paths, which a policy made of settings of units has. */
export type PolicyCgroups =
  | { readonly cgroup: string; readonly paths?: undefined }
  | { readonly cgroup?: undefined; readonly paths: readonly string[] };

/** The victims of a policy that systemd-oomd would carry out: managed workloads only (Candidates.managed). */
export interface ManagedVictims {
  /** They are in one of these cgroups, or one of them. */
  readonly within: readonly string[];
  /** They are these cgroups themselves, which have no cgroups in them. Left out: also what is in them. */
  readonly themselves?: true;
  /** The share of the node's swap capacity, 0..1, that they must use more than. Left out: any amount. */
  readonly swapAbove?: number;
}

/** A policy: what to watch, and what to do about it. */
export interface ConfiguredPolicy {
  /** Unique. */
  readonly name: string;
  /** Each cgroup is judged by itself. Left out: the node. */
  readonly scope?: PolicyCgroups;
  /** Made of ManagedOOM settings of systemd's units. Left out: a policy of the configuration. */
  readonly managed?: ManagedVictims;
  /** Its workloads are in one of these cgroups, or one of them. Left out: in any. A policy of the configuration has none. */
  readonly within?: readonly string[];
  readonly when: Condition;
  /** The time for which `when`, and not `unless`, must hold without interruption. */
  readonly forNs: bigint;
  readonly unless?: Condition;
  /** The time after a ladder in which no new one begins for this policy and scope. */
  readonly cooldownNs: bigint;
  /** The steps, at least one. `kill` is the last. */
  readonly then: readonly LadderStep[];
  /** Of its evictions. Left out: those of all evictions. */
  readonly hooks?: PolicyHooks;
}
