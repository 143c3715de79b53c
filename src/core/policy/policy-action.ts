import type { LadderStep, ThrottleLimit } from './configured-policy.js';
import type { PolicyReason } from './policy-reason.js';
import type { NamedProcess } from '../workload/process.js';

/** The cgroup of a workload that an action is for. */
export interface PolicyTarget {
  /** The id as in Workload. */
  readonly id: string;
  readonly name: string;
  /** The cgroup's path. */
  readonly path: string;
  /** The action was for this process of it. Left out: for all of it. */
  readonly process?: NamedProcess;
}

/**
 * How a ladder ends. `relieved`: the condition does not hold any more. `exhausted`: its last step is over, and the condition
 * still holds. `unknown`: a step is over, and it is not known whether the condition holds.
 */
export type LadderEnd = 'relieved' | 'exhausted' | 'unknown' | 'policy-removed' | 'scope-gone' | 'shutdown' | 'paused';

/** Why a restraint is lifted. `time`: its step is over. `no-progress`: the workload only stalls. `evicted`: it is evicted now. */
export type LiftReason = Exclude<LadderEnd, 'exhausted'> | 'time' | 'no-progress' | 'evicted';

/** What an adapter does in a step of a ladder. */
export type PolicyAct =
  | { readonly action: 'notify' }
  /** `steps`: those of the ladder before it. */
  | (Acting<'run'> & { readonly steps: readonly PastStep[] })
  /** The workloads above their request, the largest excess first; `excessBytes` of each may be reclaimed. */
  | (Acting<'reclaim'> & { readonly targets: readonly (PolicyTarget & { readonly excessBytes: bigint })[] })
  | { readonly action: 'throttle'; readonly target: PolicyTarget; readonly memoryHigh: ThrottleLimit; readonly forNs: bigint }
  | { readonly action: 'freeze'; readonly target: PolicyTarget; readonly forNs: bigint };

/** Lifts a throttle or thaws. Must be done before it returns: the workload may be killed next. */
export interface RestraintLift {
  readonly action: 'unthrottle' | 'thaw';
  readonly target: PolicyTarget;
  readonly reason: LiftReason;
}

type Acting<K extends 'run' | 'reclaim'> = { readonly action: K } & Omit<Extract<LadderStep, { kind: K }>, 'kind'>;

/** An action of a policy for one of its scopes, and why. */
export type PolicyEffect = PolicyReason & { readonly kind: 'policy'; readonly dryRun: boolean } & (PolicyAct | RestraintLift);

/** All actions, with the steps that evict. */
export type PolicyActionName = PolicyEffect['action'] | 'stop' | 'kill';

/** `refused`: evictd did not try, as no workload may be acted on, for example. `timed-out`: no answer in its time. */
export const POLICY_RESULTS = ['done', 'failed', 'timed-out', 'refused', 'dry-run'] as const;
export type PolicyResultKind = (typeof POLICY_RESULTS)[number];

export interface PolicyResult {
  readonly policy: string;
  /** Path of the cgroup; '': the node. */
  readonly scope: string;
  readonly action: PolicyActionName;
  readonly result: PolicyResultKind;
  /** Left out: not for one workload. */
  readonly target?: PolicyTarget;
  /** Left out: not measured. */
  readonly freedBytes?: bigint;
  /** Why it failed or was refused. Left out: it was not. */
  readonly error?: string;
}

/** A step of a ladder that is over, with what the node's memory.available rose by in its time. */
export interface PastStep {
  readonly action: LadderStep['kind'];
  readonly tookNs: bigint;
  /** Negative: it fell. Left out: not known. */
  readonly gainedBytes?: bigint;
}

export interface LadderEnded {
  readonly policy: string;
  readonly scope: string;
  readonly reason: LadderEnd;
  /** The past steps in their order, at least one. */
  readonly steps: readonly PastStep[];
  readonly tookNs: bigint;
  /** What the node's memory.available rose by. Left out: not known. */
  readonly gainedBytes?: bigint;
}
