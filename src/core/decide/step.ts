import { withoutUnsent } from '../budget/eviction-budget.js';
import { withEvictionBase } from '../budget/eviction-base.js';
import { basesNow } from '../budget/growth-base.js';
import { alertOnly, choose } from './eviction-choice.js';
import type { ChoiceContext, Chosen } from '../rank/eviction-attempt.js';
import { orderReport } from '../rank/episode-alert.js';
import {
  conditionEffects,
  nodeConditions,
  nodeConditionsLastObservedAt,
  nodeConditionsObservedSince,
} from '../threshold/node-condition.js';
import { updateContainerFsThresholds } from './containerfs.js';
import { dueAtNs, soonest } from './next-deadline.js';
import { outcomesOf, type Effect } from './effect.js';
import { choiceOf, judgedOrder, withOrdered } from '../rank/eviction-decision.js';
import { atCrossing, crossedBy, thresholdsMetOrOwed } from '../threshold/episode.js';
import { episodeEffects, reportedEpisodes } from '../threshold/reported-episode.js';
import { keepsUnreadNs, unseen, wasInterrupted } from '../threshold/observation-gap.js';
import {
  thresholdsFirstObservedAt,
  thresholdsLastSeenAt,
  thresholdsMetGracePeriod,
  thresholdsUpdatedStats,
  withoutSoftGrace,
} from '../threshold/grace-period.js';
import type { StepInput } from './step-input.js';
import type { Layout } from '../signal/layout.js';
import type { Observations } from '../signal/observation.js';
import { evictOverLimit } from './over-limit.js';
import { hardResources, hardWhileWaiting, resourcesOf } from './preemption.js';
import { pauseDueNs, stepPauses } from '../pause/pause-step.js';
import { withPausedWorkloads } from '../pause/paused-workloads.js';
import { fullPause } from '../pause/operator-pause.js';
import { collectedDuring, type Reclaim, type ReclaimReading } from '../reclaim/reclaim.js';
import { judgingSignals } from '../reclaim/node-yield.js';
import { afterReclaim } from '../reclaim/reclaim-progress.js';
import { counting } from '../threshold/averaging-window.js';
import { applyHoldChanges, released } from '../systemd/restart-storm.js';
import { mayActOn } from './shutdown-eviction.js';
import { taintsDueNs } from '../disruption/taint-step.js';
import { stepDisruptions } from '../disruption/disruption-step.js';
import { canEvict, evictsForNode } from '../ladder/policy-state.js';
import { stepPolicies } from '../ladder/policy-step.js';
import type { Policy, State } from './state.js';
import { isResourceThreshold, mergeThresholds, thresholdId, type Threshold } from '../threshold/threshold.js';
import { pausesNow, type PauseCauses } from '../reclaim/pause-relief.js';
import { isOfEndedPause } from '../reclaim/yield-pause.js';
import { advanceEvictions, withAwaited, type VictimsNow } from './victim-progress.js';

/**
 * The next step is due this soon while facts about a victim are outstanding, or after a last look that found the
 * shortage over.
 */
const AWAITED_NS = 5_000_000n;

export interface StepResult {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** undefined: nothing is waiting. */
  readonly dueAtNs: bigint | undefined;
  /** The earliest next step, whatever wakes the loop. The kubelet waits after a failed kill. */
  readonly notBeforeNs: bigint | undefined;
}

/**
 * One pass of the control loop (kubelet: eviction_manager.go, synchronize) as a reducer: the same input gives the same
 * result. Never throws.
 */
export function step(policy: Policy, before: State, input: StepInput): StepResult {
  const { state, effects: asked } = stepPauses(policy, before, input);
  const { effects, ...made } = stepWithPolicies(policy, state, withPausedWorkloads(input, state.pauses));
  const dueNs = soonest(soonest(made.dueAtNs, pauseDueNs(policy, state, input)), taintsDueNs(policy, made.state, input));
  return { ...made, dueAtNs: dueNs, effects: asked.length === 0 ? effects : [...asked, ...effects] };
}

/** The thresholds first: they never wait for a policy. */
function stepWithPolicies(policy: Policy, before: State, input: StepInput): StepResult {
  const made = withDisruptions(policy, stepWithOrder(policy, before, input), input);
  const changed = stepPolicies(policy, made, input);
  if (changed === undefined) return made;
  return withChanges(policy, made, changed, input);
}

function withDisruptions(policy: Policy, made: StepResult, input: StepInput): StepResult {
  const changed = stepDisruptions(policy, made, input);
  return changed === undefined ? made : withChanges(policy, made, changed, input);
}

function withChanges(
  policy: Policy,
  made: StepResult,
  { state, effects, isAwaiting }: Pick<StepResult, 'state' | 'effects'> & { readonly isAwaiting: boolean },
  { nowNs }: StepInput,
): StepResult {
  const dueNs = isAwaiting ? nowNs + AWAITED_NS : dueAtNs(policy, state, nowNs);
  return { ...made, state, effects, dueAtNs: soonest(made.dueAtNs, dueNs) };
}

function stepWithOrder(policy: Policy, before: State, input: StepInput): StepResult {
  const { nowNs } = input;
  if (input.ordered === undefined) return decideNow(policy, before, input);
  const ordered = judgedOrder(policy, before, input.ordered, nowNs);
  const { effects, state, ...result } = decideNow(policy, withOrdered(policy, before, ordered, nowNs), input);
  const report = orderReport(state, ordered);
  return { ...result, state: { ...state, settled: report.settled }, effects: [...report.effects, ...effects] };
}

function decideNow(policy: Policy, before: State, input: StepInput): StepResult {
  const known = withEvictionBase(policy, before, input);
  const state = input.holdChanges?.size ? { ...known, held: applyHoldChanges(known.held, input.holdChanges) } : known;
  const layout = layoutNow(policy, state, input);
  if (isIdle(policy, state)) return onlyVictims(policy, state, input);
  if (typeof layout === 'object') {
    const message = `eviction manager: failed to get HasDedicatedImageFs: ${layout.error}`;
    return onlyVictims(policy, state, input, [{ kind: 'error', message }]);
  }
  const placed: State = state.layout === layout ? state : { ...state, layout };
  if (state.reclaiming && input.reclaimed) return continued(policy, placed, layout, input, state.reclaiming, input.reclaimed);
  const { departures } = policy;
  if (!departures['each-resource']) {
    const observed = departures['node-yield'] && state.evictions.length > 0 ? input.observe() : undefined;
    const victims = advanceEvictions(policy, placed, input, observed, hardWhileWaiting(policy, placed, layout, input));
    const waiting =
      victims.evictions.length > victims.awaited.length || victims.notBeforeNs !== undefined || state.reclaiming !== undefined;
    if (waiting) return result(policy, placed, input, victims, []);
  }
  const observations = input.observe();
  if (observations === undefined) return onlyVictims(policy, placed, input);
  return synchronize(policy, placed, layout, input, observations, state.layout === undefined);
}

/**
 * The kubelet keeps the first known layout. With departure `layout-change` the last known one counts; until then memory
 * does not wait for a disk.
 */
function layoutNow({ departures }: Policy, state: State, { layout }: StepInput): StepInput['layout'] {
  if (!departures['layout-change']) return state.layout ?? layout;
  return typeof layout === 'string' ? layout : (state.layout ?? 'single');
}

/** The step that only advances the evictions in flight: the node is not known, or there is nothing to decide. */
function onlyVictims(policy: Policy, state: State, input: StepInput, effects: readonly Effect[] = []): StepResult {
  return result(policy, state, input, advanceEvictions(policy, state, input, undefined, new Set()), effects);
}

/** Whether there is nothing to decide, and nothing is left of earlier decisions. */
function isIdle({ thresholds, localStorageCapacityIsolation }: Policy, state: State): boolean {
  if (thresholds.length > 0 || localStorageCapacityIsolation) return false;
  const { episodes, reported, conditions, held, evictions, withoutYield } = state;
  return [episodes.size, reported.size, conditions.length, held.size, evictions.length, withoutYield.size].every((left) => left === 0);
}

/** @param first  the layout became known in this step; derived thresholds do not count yet, as in the kubelet */
function synchronize(
  policy: Policy,
  state: State,
  layout: Layout,
  input: StepInput,
  observations: Observations,
  first: boolean,
): StepResult {
  const { nowNs, ordered } = input;
  const { departures } = policy;
  const { thresholds, replaced } = updateContainerFsThresholds(policy.thresholds, layout);
  const keepsSinceNs = departures['missing-signal'] ? nowNs - keepsUnreadNs(policy) : undefined;
  const read = thresholdsMetOrOwed(first ? replaced : thresholds, thresholds, state, observations, keepsSinceNs);
  const met = mergeThresholds(read, crossedBy(ordered, thresholds));
  const updated = thresholdsUpdatedStats(read, observations, state.lastObservations);
  const before = departures['grace-restart']
    ? withoutSoftGrace(state.firstObservedAt, wasInterrupted(policy, state, nowNs) ? met : unseen(policy, state, updated, nowNs), nowNs)
    : state.firstObservedAt;
  const firstObservedAt = thresholdsFirstObservedAt(met, before, nowNs);
  const conditionsLastObservedAt = nodeConditionsLastObservedAt(nodeConditions(met), state.conditionsLastObservedAt, nowNs);
  const due = thresholdsMetGracePeriod(met, firstObservedAt, nowNs);
  const fresh = due.filter((threshold) => updated.includes(threshold));
  const hard = departures['hard-preempts-soft'] ? hardResources(counting(fresh, policy, state, nowNs)) : new Set<string>();
  const after = advanceEvictions(policy, state, input, observations, hard, resourcesOf(due));
  const reported = reportedEpisodes(state.reported, met, thresholds, nowNs);
  const causes = { reported, ...policyCauses(policy, state) };
  const { withoutYield, relievedSince } = pausesNow(after.withoutYield, state.relievedSince, causes, observations, nowNs);
  const victims = { ...after, withoutYield };

  const next: State = {
    ...state,
    lastStepNs: nowNs,
    reported,
    episodes: new Map(met.map((threshold) => [thresholdId(threshold), threshold])),
    firstObservedAt,
    lastSeenAt: thresholdsLastSeenAt(met, updated, state.lastSeenAt, nowNs),
    conditionsLastObservedAt,
    conditions: nodeConditionsObservedSince(conditionsLastObservedAt, policy.pressureTransitionPeriodNs, nowNs),
    thresholdsMet: due,
    lastObservations: observations,
    collectedAt: collectedDuring(
      state.collectedAt,
      [...reported.values()].map(({ threshold }) => threshold.signal),
    ),
    settled: new Map([...state.settled].filter(([key, id]) => key === id || (reported.has(id) && !isOfEndedPause(key, withoutYield)))),
    relievedSince,
    measurementAwaitedSince: new Map([...state.measurementAwaitedSince].filter(([id]) => firstObservedAt.has(id))),
  };
  const effects = [
    ...episodeEffects(state.reported, reported, atCrossing(ordered, observations), nowNs),
    ...conditionEffects(state.conditions, next.conditions),
  ];
  const context = { ...contextOf(policy, state, layout, input, victims), observations };
  const begun = begin(next, { ...victims, evictions: victims.evictions.filter((one) => !victims.awaited.includes(one)) }, nowNs);
  const chosen = withAwaited(policy, victims, input, decided(context, begun, counting(fresh, policy, victims, nowNs)));
  return result(policy, next, input, victims, effects, withReleases(policy, next, input, chosen));
}

function policyCauses({ policies = [] }: Policy, state: State): Pick<PauseCauses, 'hasPolicy' | 'byPolicy'> {
  return { hasPolicy: policies.some(canEvict), byPolicy: () => evictsForNode(policies, state.policies) };
}

function contextOf(
  policy: Policy,
  { thresholdsMet: repaying, pauses }: State,
  layout: Layout,
  { candidates, recheck, outside, nowNs }: StepInput,
  { failedKills, refusedEvictions }: VictimsNow,
): Omit<ChoiceContext, 'observations'> {
  return { policy, layout, candidates, recheck, outside, failedKills, refusedEvictions, repaying, pause: fullPause(pauses), nowNs };
}

/** Last, because a decision of this step may hold a unit that would be started. */
function withReleases({ shuttingDown }: Policy, state: State, { nowNs, unitsOutOfReach }: StepInput, chosen: Chosen): Chosen {
  if (chosen.held.size === 0 || unitsOutOfReach || shuttingDown) return chosen;
  const over = released({ ...state, held: chosen.held }, chosen.evictions, nowNs);
  if (over.length === 0) return chosen;
  const held = new Map(
    [...chosen.held].map(([unit, hold]) => [unit, over.includes(hold) ? { ...hold, startRequested: true as const } : hold]),
  );
  return { ...chosen, held, effects: [...chosen.effects, ...over.map((hold) => ({ kind: 'release', hold }) as const)] };
}

function decided(context: ChoiceContext, given: Chosen, due: readonly Threshold[]): Chosen {
  const { policy } = context;
  const before = alertOnly(context, given, due);
  const fresh = due.filter(isResourceThreshold).filter((threshold) => mayActOn(policy, threshold));
  if (!policy.localStorageCapacityIsolation || context.pause) return fresh.length === 0 ? before : choose(context, before, fresh);
  const found = context.candidates();
  const limited = evictOverLimit(context, before, found);
  if (limited.decisions > before.decisions && !policy.departures['each-resource']) return limited;
  return choose({ ...context, candidates: () => found }, limited, fresh);
}

/** Node-level reclaim has ended: decides its threshold only. A step for the other thresholds follows at once. */
function continued(policy: Policy, state: State, layout: Layout, input: StepInput, reclaim: Reclaim, reading: ReclaimReading): StepResult {
  const victims = advanceEvictions(policy, state, input, undefined, new Set());
  const { thresholds } = updateContainerFsThresholds(policy.thresholds, layout);
  const { nowNs } = input;
  const context = contextOf(policy, state, layout, input, victims);
  const chosen = afterReclaim(context, begin(state, victims, nowNs), thresholds, reclaim, reading, input.observe());
  return { ...result(policy, state, input, victims, [], chosen), dueAtNs: nowNs };
}

function begin(state: State, victims: VictimsNow, nowNs: bigint): Chosen {
  const { reclaiming, collectedAt, reported } = state;
  const { evictions, effects, withoutYield, unitEvictions, held } = victims;
  const outcomes = outcomesOf(effects);
  const lasting = [...reported.values()].flatMap(({ threshold }) => judgingSignals(threshold));
  return {
    ...choiceOf(state),
    ...{ evictions, reclaiming, collectedAt, withoutYield, unitEvictions, held },
    baselines: basesNow(state.baselines, outcomes, withoutYield, lasting, nowNs),
    evictionTimes: withoutUnsent(state.evictionTimes, outcomes),
  };
}

function result(
  policy: Policy,
  state: State,
  { nowNs }: StepInput,
  victims: VictimsNow,
  effects: readonly Effect[],
  chosen?: Chosen,
): StepResult {
  const { effects: more, awaiting, over, ...changed } = chosen ?? begin(state, victims, nowNs);
  const next: State = {
    ...state,
    ...changed,
    failedKills: victims.failedKills,
    refusedEvictions: victims.refusedEvictions,
    unansweredEvictions: victims.unansweredEvictions,
    relievedNs: victims.relievedNs,
    thresholdsMet:
      over.length === 0 ? state.thresholdsMet : state.thresholdsMet.filter((threshold) => !over.includes(thresholdId(threshold))),
  };
  return {
    state: next,
    effects: [...victims.effects, ...effects, ...more],
    dueAtNs: awaiting ? nowNs + AWAITED_NS : dueAtNs(policy, next, nowNs),
    notBeforeNs: victims.notBeforeNs,
  };
}
