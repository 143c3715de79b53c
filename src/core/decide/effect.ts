import type { Leak } from '../budget/growth.js';
import type { MemoryGrowth } from '../budget/memory-growth.js';
import type { SwapHolders } from '../budget/swap-holders.js';
import type { LiftedPauses } from '../budget/lifted-pauses.js';
import type { ExhaustedBudget } from '../budget/eviction-budget.js';
import type { DrainEffect } from '../drain/drain.js';
import type { DiskHolder } from '../disk/filesystem-holders.js';
import type { Decision, EscalationReason, Outcome } from './eviction.js';
import type { Joined } from '../threshold/joined-readings.js';
import type { Observation } from '../signal/observation.js';
import type { OperatorPause, PausedWorkload, PauseEnd } from '../pause/operator-pause.js';
import type { Reclaim, ReclaimReading } from '../reclaim/reclaim.js';
import type { LadderEnded, PolicyEffect, PolicyResult } from '../policy/policy-action.js';
import type { Hold } from '../systemd/unit-hold.js';
import type { ConditionType, Resource } from '../signal/signal.js';
import type { Threshold } from '../threshold/threshold.js';

/**
 * Why a threshold evicted nothing. `signal-not-evictable`: evicting workloads does not free this resource.
 * `no-workload-source`: none is configured. `nothing-evictable`: every candidate is protected or frees nothing.
 * `no-yield`: the last eviction freed too little, and its pause has not ended. `budget-exhausted`: evictionBudget permits
 * no more. `leak-elsewhere`: what consumed the memory of the last eviction may not be evicted. `alert-only`: io, cpu or
 * swap alone never evict. `restart-storm`: a unit was evicted for the third time in ten minutes. `safe-mode`: evictd
 * crashed several times. `paused`: an operator has paused evictions.
 */
export const ALERT_KINDS = [
  'signal-not-evictable',
  'no-workload-source',
  'nothing-evictable',
  'no-yield',
  'budget-exhausted',
  'leak-elsewhere',
  'alert-only',
  'restart-storm',
  'safe-mode',
  'paused',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Effects of taints that operators set or remove at run time, and of workloads that tolerate a NoExecute taint for a time. */
type TaintEffect = { readonly kind: 'taint'; /** 'maintenance=yes:NoExecute'. */ readonly taint: string } & (
  | { readonly event: 'set' | 'removed'; /** As in DisruptionCause. */ readonly by?: string | undefined }
  | { readonly event: 'waits'; readonly workload: PausedWorkload; readonly forNs: bigint }
  | { readonly event: 'cancelled'; readonly workload: PausedWorkload }
);

/** What a step asks for, in order. */
export type Effect =
  /** A threshold is about to reclaim or evict (kubelet: event EvictionThresholdMet). */
  | { readonly kind: 'attempt'; readonly resource: Resource; readonly threshold: Threshold; readonly observation: Observation }
  /** Run these collections in order, and report the result to the next step. */
  | { readonly kind: 'reclaim'; readonly reclaim: Reclaim }
  /** The result of node-level reclaim; `enough`: no eviction is needed. */
  | ({ readonly kind: 'reclaimed'; readonly reclaim: Reclaim; readonly enough: boolean } & ReclaimReading)
  /** Send the first signal: SIGTERM with a grace period, else SIGKILL; nothing in a dry run. */
  | { readonly kind: 'evict'; readonly decision: Decision }
  /** Send SIGKILL after SIGTERM. */
  | { readonly kind: 'escalate'; readonly decision: Decision; readonly reason: EscalationReason }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'condition'; readonly type: ConditionType; readonly status: boolean }
  /** An episode begins (`met`), or is over: its threshold is repaid and has been clear for a while. */
  | ({
      readonly kind: 'threshold';
      readonly threshold: Threshold;
      readonly met: boolean;
      readonly observation: Observation | undefined;
      /** At the end of an episode: how often the threshold became met in it, and how long it has been clear. */
      readonly over?: { readonly timesMet: number; readonly clearForNs: bigint };
    } & Joined)
  /** Once per episode. */
  | ({
      readonly kind: 'alert';
      readonly alert: AlertKind;
      readonly threshold: Threshold;
      readonly observation: Observation;
      /** The eviction of a restart storm. */
      readonly decision?: Decision;
      /** What holds most on the disk, the largest first. Left out: not measured. */
      readonly holders?: readonly DiskHolder[];
      /** With `paused`: the eviction that evictd would have decided. */
      readonly pause?: { readonly reason: string; readonly wouldEvict: Decision };
      /** With `budget-exhausted`. */
      readonly budget?: ExhaustedBudget;
      /** With `leak-elsewhere`. */
      readonly leak?: Leak;
      /** For memory: the growth since the last eviction or since evictions wait. Left out: not known. */
      readonly growth?: MemoryGrowth;
      /** With `alert-only` of swap.available. */
      readonly swap?: SwapHolders;
    } & Joined)
  /** Start a unit that was kept stopped, and the units stopped with it. */
  | { readonly kind: 'release'; readonly hold: Hold }
  /** An operator has asked evictd to evict again. */
  | { readonly kind: 'resume'; readonly lifted: LiftedPauses; /** As in DisruptionCause. */ readonly by?: string | undefined }
  /** An operator's pause begins, or is over without `evictd resume`. */
  | { readonly kind: 'pause'; readonly event: 'begin'; readonly pause: OperatorPause }
  | { readonly kind: 'pause'; readonly event: 'end'; readonly pause: OperatorPause; readonly because: PauseEnd }
  | TaintEffect
  /** An operator cordons, drains or uncordons the node, or a drain is over. */
  | DrainEffect
  /** A step of a policy's ladder acts, or lifts a restraint. Its evictions are `evict`. */
  | PolicyEffect
  | ({ readonly kind: 'policy-result' } & PolicyResult)
  | ({ readonly kind: 'policy-end' } & LadderEnded)
  /** The filesystem layout is not known, so the step decided nothing. */
  | { readonly kind: 'error'; readonly message: string };

/** The evictions among the effects, in order. */
export function decisionsOf(effects: readonly Effect[]): readonly Decision[] {
  return effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));
}

export function outcomesOf(effects: readonly Effect[]): readonly Outcome[] {
  return effects.flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome] : []));
}
