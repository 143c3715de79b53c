import type { Truth } from '../policy/condition.js';
import type { ConfiguredPolicy, LadderStep } from '../policy/configured-policy.js';
import type { LadderEnd, PastStep, PolicyResult } from '../policy/policy-action.js';

/** The ladder of a policy for one of its scopes, under way. Times are monotonic. */
export interface Ladder {
  readonly beganAtNs: bigint;
  /** Index in the policy's steps. */
  readonly step: number;
  readonly action: LadderStep['kind'];
  readonly stepBeganAtNs: bigint;
  /** The node's memory.available then. undefined: not known. */
  readonly stepAvailable: bigint | undefined;
  /** The steps before. */
  readonly past: readonly PastStep[];
  /** When the step is over. undefined: it waits for a workload that may be evicted, or for the end of its eviction. */
  readonly endsAtNs: bigint | undefined;
  /** Serial of the decision whose end the step waits for. */
  readonly eviction?: number;
  /** Why no workload may be evicted, as reported last. */
  readonly refusedBecause?: string;
  /** It may begin again while the condition holds: it has done more than notify, and freed enough. */
  readonly isRepeatable: boolean;
  /** The node's memory.available when the ladder began. undefined: not known. */
  readonly availableBefore: bigint | undefined;
}

/** What a policy remembers of one of its scopes. */
export interface ScopeState {
  /** The time since which `when`, and not `unless`, has held without interruption. */
  readonly holdsSinceNs?: bigint;
  readonly ladder?: Ladder;
  /** No ladder begins before. */
  readonly notBeforeNs?: bigint;
  /** No ladder begins before the condition has ceased to hold. */
  readonly awaitsRelief?: true;
}

/**
 * An action has an effect on the readings after this time: the kernel updates the averages of pressure every two seconds
 * (kernel/sched/psi.c, PSI_FREQ).
 */
export const SETTLE_NS = 2_000_000_000n;

/** Averages of pressure show after this time what a victim has freed. systemd-oomd waits as long (POST_ACTION_DELAY_USEC). */
const VISIBLE_NS = 15_000_000_000n;

/** How long a policy waits behind a victim of any cause. A cooldown of hours is for its own ladders only. */
export function restAfterVictimNs(cooldownNs: bigint): bigint {
  if (cooldownNs < SETTLE_NS) return SETTLE_NS;
  return cooldownNs < VISIBLE_NS ? cooldownNs : VISIBLE_NS;
}

/** What a ladder does next. `act`: take this step, or try again to find a workload for it. */
export type LadderMove =
  | { readonly kind: 'wait' }
  | { readonly kind: 'act'; readonly step: number }
  | { readonly kind: 'end'; readonly reason: LadderEnd };

const WAIT: LadderMove = { kind: 'wait' };

/** The scope after a reading of its condition. */
export function judged({ holdsSinceNs, ladder, notBeforeNs, awaitsRelief }: ScopeState, truth: Truth, nowNs: bigint): ScopeState {
  return {
    ...(ladder && { ladder }),
    ...(notBeforeNs !== undefined && { notBeforeNs }),
    ...(truth === true && { holdsSinceNs: holdsSinceNs ?? nowNs }),
    ...(truth !== false && awaitsRelief && { awaitsRelief }),
  };
}

export function nextMove(scope: ScopeState, { then: steps, forNs }: ConfiguredPolicy, truth: Truth, nowNs: bigint): LadderMove {
  const { ladder } = scope;
  if (ladder === undefined) return truth === true && mayBegin(scope, forNs, nowNs) ? { kind: 'act', step: 0 } : WAIT;
  if (truth === false) return { kind: 'end', reason: 'relieved' };
  if (ladder.eviction !== undefined) return WAIT;
  if (ladder.endsAtNs === undefined) return truth === true ? { kind: 'act', step: ladder.step } : { kind: 'end', reason: 'unknown' };
  if (nowNs < ladder.endsAtNs) return WAIT;
  if (truth === 'unknown') return { kind: 'end', reason: 'unknown' };
  return ladder.step + 1 < steps.length ? { kind: 'act', step: ladder.step + 1 } : { kind: 'end', reason: 'exhausted' };
}

function mayBegin({ holdsSinceNs, notBeforeNs = 0n, awaitsRelief }: ScopeState, forNs: bigint, nowNs: bigint): boolean {
  return holdsSinceNs !== undefined && nowNs - holdsSinceNs >= forNs && nowNs >= notBeforeNs && awaitsRelief !== true;
}

/** The ladder at the beginning of a step, before it has acted. */
export function atStep(
  before: Ladder | undefined,
  [step, action]: readonly [number, LadderStep['kind']],
  available: bigint | undefined,
  nowNs: bigint,
): Ladder {
  if (before?.step === step) return before;
  return {
    beganAtNs: before?.beganAtNs ?? nowNs,
    step,
    action,
    stepBeganAtNs: nowNs,
    stepAvailable: available,
    past: before === undefined ? [] : pastSteps(before, available, nowNs),
    endsAtNs: undefined,
    isRepeatable: before?.isRepeatable ?? false,
    availableBefore: before === undefined ? available : before.availableBefore,
  };
}

/** The past steps and the current one, which ends now. */
export function pastSteps({ past, ...of }: Ladder, available: bigint | undefined, nowNs: bigint): readonly PastStep[] {
  const { action, stepBeganAtNs, stepAvailable } = of;
  const gained = available === undefined || stepAvailable === undefined ? undefined : available - stepAvailable;
  return [...past, { action, tookNs: nowNs - stepBeganAtNs, ...(gained !== undefined && { gainedBytes: gained }) }];
}

/** How long a step takes if nothing answers; undefined: it ends with its eviction. */
export function stepTimeNs(step: LadderStep, dryRun: boolean): bigint | undefined {
  switch (step.kind) {
    case 'notify':
      return 0n;
    case 'run':
      return dryRun ? SETTLE_NS : step.timeoutNs + SETTLE_NS;
    case 'reclaim':
      return step.withinNs + SETTLE_NS;
    case 'throttle':
    case 'freeze':
      return step.forNs;
    case 'stop':
    case 'kill':
      return dryRun ? SETTLE_NS : undefined;
  }
}

/** The ladder after its action has answered. What failed is over; what is done shows in the readings a moment later. */
export function answered(ladder: Ladder, step: LadderStep, { action, result }: PolicyResult, nowNs: bigint): Ladder {
  if (action !== step.kind || ladder.endsAtNs === undefined) return ladder;
  if (result !== 'done') return { ...ladder, endsAtNs: nowNs };
  if (action !== 'run' && action !== 'reclaim') return ladder;
  const settledNs = nowNs + SETTLE_NS;
  return { ...ladder, endsAtNs: settledNs < ladder.endsAtNs ? settledNs : ladder.endsAtNs };
}

/**
 * The ladder after its eviction has ended. A workload that could not be killed, or had ended before, is followed by the
 * next best one at once.
 *
 * @param freed  `little`: the eviction was ineffective; undefined: there was none
 */
export function afterEviction(before: Ladder, freed: 'enough' | 'little' | undefined, nowNs: bigint): Ladder {
  const { eviction: _over, ...ladder } = before;
  if (freed === undefined) return ladder;
  return { ...ladder, endsAtNs: nowNs + SETTLE_NS, isRepeatable: freed === 'enough' };
}

/** The scope after the end of its ladder. */
export function ended({ holdsSinceNs, ladder }: ScopeState, cooldownNs: bigint, reason: LadderEnd, nowNs: bigint): ScopeState {
  const repeats = reason === 'relieved' || reason === 'paused' || ladder?.isRepeatable === true;
  return { ...(holdsSinceNs !== undefined && { holdsSinceNs }), notBeforeNs: nowNs + cooldownNs, ...(!repeats && { awaitsRelief: true }) };
}

/** When a scope needs a look without any event; undefined: it waits for none. */
export function scopeDueNs({ holdsSinceNs, ladder, notBeforeNs = 0n, awaitsRelief }: ScopeState, forNs: bigint): bigint | undefined {
  if (ladder !== undefined) return ladder.endsAtNs;
  if (holdsSinceNs === undefined || awaitsRelief) return undefined;
  const heldNs = holdsSinceNs + forNs;
  return heldNs > notBeforeNs ? heldNs : notBeforeNs;
}
