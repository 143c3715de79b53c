import { alertOnly, choose, type ChoiceContext, type Chosen } from './choice.js';
import { conditionEffects, nodeConditions, nodeConditionsLastObservedAt, nodeConditionsObservedSince } from './condition.js';
import { updateContainerFsThresholds } from './containerfs.js';
import { dueAtNs } from './due.js';
import type { Effect } from './effect.js';
import { episodeEffects, thresholdsMetOrOwed } from './episode.js';
import { keepsUnreadNs, unseen, wasInterrupted } from './gap.js';
import {
  thresholdsFirstObservedAt,
  thresholdsLastSeenAt,
  thresholdsMetGracePeriod,
  thresholdsUpdatedStats,
  withoutSoftGrace,
} from './grace.js';
import type { StepInput } from './input.js';
import type { Layout } from './layout.js';
import type { Observations } from './observation.js';
import { evictOverLimit } from './over-limit.js';
import { hardResources, hardWhileWaiting } from './preemption.js';
import type { Reclaim, ReclaimReading } from './reclaim.js';
import { afterReclaim } from './reclaiming.js';
import { counting } from './relief.js';
import type { Policy, State } from './state.js';
import { isResourceThreshold, thresholdId, type Threshold } from './threshold.js';
import { advanceEvictions, type VictimsNow } from './victim.js';

export interface StepResult {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** When the next step is due though nothing wakes it; undefined: nothing is waiting. */
  readonly dueAtNs: bigint | undefined;
  /** Whatever wakes, no step is wanted before: the kubelet waits after a kill that failed. */
  readonly notBeforeNs: bigint | undefined;
}

/**
 * One pass of the control loop (kubelet: eviction_manager.go, synchronize), as a reducer: everything that it knows comes in, everything that it
 * wants comes out. Same input, same result. Never throws.
 */
export function step(policy: Policy, state: State, input: StepInput): StepResult {
  const layout = state.layout ?? input.layout;
  if (isIdle(policy, state)) return onlyVictims(policy, state, input);
  if (typeof layout === 'object') {
    const message = `eviction manager: failed to get HasDedicatedImageFs: ${layout.error}`;
    return onlyVictims(policy, state, input, [{ kind: 'error', message }]);
  }
  const known: State = state.layout === undefined ? { ...state, layout } : state;
  if (state.reclaiming && input.reclaimed) return continued(policy, known, layout, input, state.reclaiming, input.reclaimed);
  if (!policy.departures['each-resource']) {
    const victims = advanceEvictions(policy, known, input, undefined, hardWhileWaiting(policy, known, layout, input));
    const waiting = victims.evictions.length > 0 || victims.notBeforeNs !== undefined || state.reclaiming !== undefined;
    if (waiting) return result(policy, known, input, victims, []);
  }
  const observations = input.observe();
  if (observations === undefined) return onlyVictims(policy, known, input);
  return synchronize(policy, known, layout, input, observations, state.layout === undefined);
}

/** Nothing is known of the node, or wanted: only the evictions in flight go on. */
function onlyVictims(policy: Policy, state: State, input: StepInput, effects: readonly Effect[] = []): StepResult {
  return result(policy, state, input, advanceEvictions(policy, state, input, undefined, new Set()), effects);
}

/** There is nothing to decide, and nothing left over from when there was. */
function isIdle({ thresholds, localStorageCapacityIsolation }: Policy, { episodes, conditions }: State): boolean {
  return thresholds.length === 0 && !localStorageCapacityIsolation && episodes.size === 0 && conditions.length === 0;
}

/**
 * @param first  the layout was found out in this step: thresholds that are derived from it do not count yet, as in the kubelet
 */
function synchronize(
  policy: Policy,
  state: State,
  layout: Layout,
  input: StepInput,
  observations: Observations,
  first: boolean,
): StepResult {
  const { nowNs } = input;
  const { departures } = policy;
  const { thresholds, replaced } = updateContainerFsThresholds(policy.thresholds, layout);
  const keepsSinceNs = departures['missing-signal'] ? nowNs - keepsUnreadNs(policy) : undefined;
  const met = thresholdsMetOrOwed(first ? replaced : thresholds, thresholds, state, observations, keepsSinceNs);
  const updated = thresholdsUpdatedStats(met, observations, state.lastObservations);
  const before = departures['grace-restart']
    ? withoutSoftGrace(state.firstObservedAt, wasInterrupted(policy, state, nowNs) ? met : unseen(policy, state, updated, nowNs), nowNs)
    : state.firstObservedAt;
  const firstObservedAt = thresholdsFirstObservedAt(met, before, nowNs);
  const conditionsLastObservedAt = nodeConditionsLastObservedAt(nodeConditions(met), state.conditionsLastObservedAt, nowNs);
  const due = thresholdsMetGracePeriod(met, firstObservedAt, nowNs);
  const fresh = due.filter((threshold) => updated.includes(threshold));
  const hard = departures['hard-preempts-soft'] ? hardResources(counting(fresh, policy, state, nowNs)) : new Set<string>();
  const victims = advanceEvictions(policy, state, input, observations, hard);

  const next: State = {
    ...state,
    lastStepNs: nowNs,
    episodes: new Map(met.map((threshold) => [thresholdId(threshold), threshold])),
    firstObservedAt,
    lastSeenAt: thresholdsLastSeenAt(met, updated, state.lastSeenAt, nowNs),
    conditionsLastObservedAt,
    conditions: nodeConditionsObservedSince(conditionsLastObservedAt, policy.pressureTransitionPeriodNs, nowNs),
    thresholdsMet: due,
    lastObservations: observations,
    settled: new Map([...state.settled].filter(([key, id]) => key === id || firstObservedAt.has(id))),
  };
  const effects = [...episodeEffects(state.episodes, next.episodes, observations), ...conditionEffects(state.conditions, next.conditions)];
  const context = {
    policy,
    layout,
    observations,
    candidates: input.candidates,
    failedKills: victims.failedKills,
    repaying: state.thresholdsMet,
    nowNs,
  };
  return result(policy, next, input, victims, effects, decided(context, begin(next, victims), counting(fresh, policy, victims, nowNs)));
}

function decided(context: ChoiceContext, given: Chosen, due: readonly Threshold[]): Chosen {
  const { policy } = context;
  const before = alertOnly(context, given, due);
  const fresh = due.filter(isResourceThreshold);
  if (!policy.localStorageCapacityIsolation) return fresh.length === 0 ? before : choose(context, before, fresh);
  const found = context.candidates();
  const limited = evictOverLimit(context, before, found);
  if (limited.decisions > before.decisions && !policy.departures['each-resource']) return limited;
  return choose({ ...context, candidates: () => found }, limited, fresh);
}

/** The collections of a reclaim are over: only its threshold is decided, and what else may have been crossed has its step right after. */
function continued(policy: Policy, state: State, layout: Layout, input: StepInput, reclaim: Reclaim, reading: ReclaimReading): StepResult {
  const victims = advanceEvictions(policy, state, input, undefined, new Set());
  const { thresholds } = updateContainerFsThresholds(policy.thresholds, layout);
  const { failedKills } = victims;
  const { nowNs, candidates } = input;
  const context = { policy, layout, candidates, failedKills, repaying: state.thresholdsMet, nowNs };
  const chosen = afterReclaim(context, begin(state, victims), thresholds, reclaim, reading, input.observe());
  return { ...result(policy, state, input, victims, [], chosen), dueAtNs: nowNs };
}

function begin(state: State, { evictions, withoutYield }: VictimsNow): Chosen {
  return { effects: [], evictions, settled: state.settled, decisions: state.decisions, reclaiming: state.reclaiming, withoutYield };
}

function result(
  policy: Policy,
  state: State,
  { nowNs }: StepInput,
  victims: VictimsNow,
  effects: readonly Effect[],
  chosen?: Chosen,
): StepResult {
  const { effects: more, ...changed } = chosen ?? begin(state, victims);
  const next: State = { ...state, ...changed, failedKills: victims.failedKills, relievedNs: victims.relievedNs };
  return {
    state: next,
    effects: [...victims.effects, ...effects, ...more],
    dueAtNs: dueAtNs(policy, next, nowNs),
    notBeforeNs: victims.notBeforeNs,
  };
}
