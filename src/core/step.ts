import { choose } from './choice.js';
import { nodeConditions, nodeConditionsLastObservedAt, nodeConditionsObservedSince } from './condition.js';
import type { Effect } from './effect.js';
import { advance, evictionDueNs, freedBytes, pauseNs, type EvictionInFlight, type VictimReading } from './eviction.js';
import { graceEndNs, thresholdsFirstObservedAt, thresholdsMetGracePeriod, thresholdsUpdatedStats } from './grace.js';
import type { Observations } from './observation.js';
import { CONDITION_TYPES, SIGNAL_FACTS } from './signal.js';
import type { Policy, State } from './state.js';
import { mergeThresholds, thresholdId, thresholdKind, thresholdsMet, type Threshold } from './threshold.js';
import type { Candidates } from './workload.js';

/** While a threshold asks for an eviction that could not be had, candidates are looked for at this pace. */
const RECHECK_NS = 1_000_000_000n;

export interface StepInput {
  /** Monotonic; not before the observations were made. */
  readonly nowNs: bigint;
  /** Read after the victims were: what a victim gave back is in them. */
  readonly observations: Observations;
  /** One for every eviction in flight, by serial. */
  readonly victims: ReadonlyMap<number, VictimReading>;
  /** All candidates, read now. Called only when somebody has to go. */
  readonly candidates: () => Candidates;
}

export interface StepResult {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** When the next step is due though nothing wakes it; undefined: nothing is waiting. */
  readonly dueAtNs: bigint | undefined;
}

/**
 * One pass of the control loop (kubelet: eviction_manager.go, synchronize), as a reducer: everything that it knows comes in, everything that it
 * wants comes out. Same input, same result.
 */
export function step(policy: Policy, state: State, input: StepInput): StepResult {
  const { nowNs, observations } = input;
  const met = thresholdsMetOrOwed(policy, state, observations);
  const firstObservedAt = thresholdsFirstObservedAt(met, state.firstObservedAt, nowNs);
  const conditionsLastObservedAt = nodeConditionsLastObservedAt(nodeConditions(met), state.conditionsLastObservedAt, nowNs);
  const conditions = nodeConditionsObservedSince(conditionsLastObservedAt, policy.pressureTransitionPeriodNs, nowNs);
  const due = thresholdsMetGracePeriod(met, firstObservedAt, nowNs);
  const fresh = thresholdsUpdatedStats(due, observations, state.lastObservations);

  const victims = advanceEvictions(state, input, met);
  const failedKills = new Map([...state.failedKills, ...victims.failedKills].filter(([, untilNs]) => nowNs < untilNs));
  const settled = new Map([...state.settled].filter(([, id]) => firstObservedAt.has(id)));
  const choice = choose(
    policy,
    { ...state, evictions: victims.evictions, settled, failedKills },
    fresh,
    observations,
    input.candidates,
    nowNs,
  );

  const next: State = {
    episodes: new Map(met.map((threshold) => [thresholdId(threshold), threshold])),
    firstObservedAt,
    conditionsLastObservedAt,
    conditions,
    thresholdsMet: due,
    lastObservations: observations,
    evictions: choice.evictions,
    failedKills,
    settled: choice.settled,
    decisions: choice.decisions,
  };
  const effects = [...victims.effects, ...episodeEffects(state, next, observations), ...conditionEffects(state, next), ...choice.effects];
  return { state: next, effects, dueAtNs: dueAtNs(policy, next, nowNs) };
}

/** Those met now, and those met before that have not been paid back with their min reclaim. Without a reading an episode goes on. */
function thresholdsMetOrOwed(policy: Policy, state: State, observations: Observations): Threshold[] {
  const configured = (list: readonly Threshold[]): Threshold[] => {
    const ids = new Set(policy.thresholds.map(thresholdId));
    return list.filter((threshold) => ids.has(thresholdId(threshold)));
  };
  const owed = thresholdsMet(configured(state.thresholdsMet), observations, true);
  const unread = configured([...state.episodes.values()]).filter((threshold) => !observations.observed.has(threshold.signal));
  return mergeThresholds(mergeThresholds(thresholdsMet(policy.thresholds, observations, false), owed), unread);
}

/** What became of the victims, with the readings of this step. */
function advanceEvictions(
  state: State,
  { nowNs, observations, victims }: StepInput,
  met: readonly Threshold[],
): { evictions: EvictionInFlight[]; effects: Effect[]; failedKills: [string, bigint][] } {
  const hard = new Set(
    met.filter((threshold) => thresholdKind(threshold) === 'hard').map((threshold) => SIGNAL_FACTS[threshold.signal].resource),
  );
  const evictions: EvictionInFlight[] = [];
  const effects: Effect[] = [];
  const failedKills: [string, bigint][] = [];
  for (const eviction of state.evictions) {
    const { decision } = eviction;
    const reading = victims.get(decision.serial);
    if (reading === undefined) {
      evictions.push(eviction);
      continue;
    }
    const now = advance(eviction, reading, hard.has(decision.resource), nowNs);
    if (!('result' in now)) {
      evictions.push(now.eviction);
      if (now.escalate) effects.push({ kind: 'escalate', decision, reason: now.escalate });
      continue;
    }
    // A vanished one is not listed again; if it were, it would be chosen for ever.
    if (now.result === 'failed' || now.result === 'vanished') failedKills.push([decision.victim.workload.id, nowNs + pauseNs(reading)]);
    const outcome = {
      result: now.result,
      decision,
      atNs: nowNs,
      expectedBytes: decision.victim.workingSetBytes,
      freedBytes: now.result === 'vanished' ? 0n : freedBytes(now.eviction),
      removed: reading.removed,
      processesLeft: reading.processes,
      error: reading.error,
      nodeAfter: observations.observed.get(decision.threshold.signal),
    };
    effects.push({ kind: 'outcome', outcome });
  }
  return { evictions, effects, failedKills };
}

function episodeEffects(before: State, after: State, observations: Observations): Effect[] {
  const effect = (threshold: Threshold, met: boolean): Effect => {
    return { kind: 'threshold', threshold, met, observation: observations.observed.get(threshold.signal) };
  };
  const begun = [...after.episodes].filter(([id]) => !before.episodes.has(id)).map(([, threshold]) => effect(threshold, true));
  const ended = [...before.episodes].filter(([id]) => !after.episodes.has(id)).map(([, threshold]) => effect(threshold, false));
  return [...begun, ...ended];
}

function conditionEffects(before: State, after: State): Effect[] {
  return CONDITION_TYPES.filter((type) => before.conditions.includes(type) !== after.conditions.includes(type)).map((type) => {
    return { kind: 'condition', type, status: after.conditions.includes(type) };
  });
}

function dueAtNs(policy: Policy, state: State, nowNs: bigint): bigint | undefined {
  const times = [
    ...[...state.episodes.values()].map((threshold) => graceEndNs(threshold, state.firstObservedAt, nowNs)),
    ...state.conditions.map((type) => (state.conditionsLastObservedAt.get(type) ?? nowNs) + policy.pressureTransitionPeriodNs),
    ...[...state.failedKills.values()],
  ].filter((time) => time > nowNs);
  times.push(...state.evictions.map(evictionDueNs));
  if (policy.hasWorkloadSource && state.thresholdsMet.some((threshold) => SIGNAL_FACTS[threshold.signal].evictable))
    times.push(nowNs + RECHECK_NS);
  return times.reduce<bigint | undefined>((least, time) => (least === undefined || time < least ? time : least), undefined);
}
