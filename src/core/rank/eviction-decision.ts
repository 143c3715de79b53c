import { withBudgeted } from '../budget/eviction-budget.js';
import { withoutBases } from '../budget/growth-base.js';
import { repeatedGrowers } from '../budget/repeated-eviction.js';
import { inFlight, type Decision, type UnitDecision } from '../decide/eviction.js';
import type { Effect } from '../decide/effect.js';
import { askedOnce, disruptable, violatedBudgets, type AskedOnce } from '../disruption/disruption-budget.js';
import type { DisruptionCause } from '../disruption/disruption-cause.js';
import type { DiskHolder } from '../disk/filesystem-holders.js';
import { withMinGrace } from '../kubernetes/pod-eviction-way.js';
import type { EvictionCause } from './eviction-cause.js';
import { nodeMemory } from '../reclaim/node-yield.js';
import type { RankedWorkload } from './rank.js';
import { SIGNAL_FACTS, type ConditionType, type Resource } from '../signal/signal.js';
import { evictionsBefore, holdOf } from '../systemd/restart-storm.js';
import type { Policy, State } from '../decide/state.js';
import { thresholdKind } from '../threshold/threshold.js';
import type { UnitStop } from '../systemd/unit-stop.js';
import type { Candidates } from '../workload/workload.js';

/**
 * The kubelet's grace period for a hard eviction, contrary to its documentation (eviction_manager.go,
 * immediateEvictionGracePeriodSeconds).
 */
const KUBELET_HARD_GRACE_NS = 1_000_000_000n;

type Decided =
  | ('evictions' | 'settled' | 'decisions' | 'evictionTimes' | 'baselines' | 'unitEvictions' | 'held' | 'measurementAwaitedSince')
  | 'disruptedBudgets';

/** What decisions have changed of the state, and their effects. */
export interface Choice extends Pick<State, Decided> {
  readonly effects: readonly Effect[];
  /** A step is due soon: facts about the victim are outstanding, or the shortage was over at the last look. */
  readonly awaiting: boolean;
  /** Ids of thresholds whose shortage was over at the last look. They evicted nothing and owe no min reclaim. */
  readonly over: readonly string[];
}

/** Nothing is decided yet in this step. */
export function choiceOf(state: State): Choice {
  const { evictions, settled, decisions, evictionTimes, baselines, unitEvictions, held, measurementAwaitedSince, disruptedBudgets } = state;
  const decided = { evictions, settled, decisions, evictionTimes, baselines, unitEvictions, held, measurementAwaitedSince };
  return { ...decided, disruptedBudgets, effects: [], awaiting: false, over: [] };
}

/** A victim and the ranking that it was selected from. */
export interface Victim {
  readonly victim: RankedWorkload;
  readonly ranking: readonly RankedWorkload[];
  readonly found: Candidates | AskedOnce;
  readonly holders?: readonly DiskHolder[] | undefined;
  /** undefined: not a systemd unit, or its processes get signals. */
  readonly unitStop?: UnitStop | undefined;
  /** A workload that may rank before it is being measured. */
  readonly awaitsMeasurement?: boolean;
}

export function decide(
  policy: Policy,
  choice: Choice,
  cause: EvictionCause,
  { victim, ranking, found, unitStop, holders }: Victim,
  nowNs: bigint,
): Choice {
  const serial = choice.decisions + 1;
  const grace = withMinGrace(cause, victim, graceNs(policy, cause, victim));
  const unit = unitDecision(policy, choice, cause, victim, { serial, stop: unitStop, grace }, nowNs);
  const violates = violated(policy, choice, victim, found, nowNs);
  const decision: Decision = {
    serial,
    resource: resourceOf(cause),
    cause,
    victim,
    graceNs: grace,
    ranking,
    unreadable: found.unreadable,
    decidedAtNs: nowNs,
    dryRun: policy.dryRun,
    ...(holders && { holders }),
    ...(unit && { unit }),
    ...(violates.length > 0 && { violates }),
    ...(repeats(policy, choice, { cause, victim, ranking }, nowNs) && { repeats: true }),
  };
  const hold = policy.dryRun ? undefined : unit?.hold;
  return {
    ...choice,
    effects: [...choice.effects, { kind: 'evict', decision }],
    evictions: policy.dryRun ? choice.evictions : [...choice.evictions, inFlight(decision)],
    decisions: serial,
    evictionTimes: policy.dryRun ? choice.evictionTimes : withBudgeted(policy, choice.evictionTimes, decision),
    // Other evictions have no base of their own: what the last base knows of growth stays.
    baselines: policy.dryRun || !hasBase(cause) ? choice.baselines : withoutBases(choice.baselines, decision.resource),
    held: hold ? new Map(choice.held).set(hold.unit, hold) : choice.held,
  };
}

/** Whether the victim was evicted before, and has grown again: the budget counts it once. */
function repeats(
  policy: Policy,
  before: Pick<State, 'evictionTimes' | 'baselines'>,
  { cause, victim, ranking }: Pick<Decision, 'cause' | 'victim' | 'ranking'>,
  nowNs: bigint,
): boolean {
  if (cause.kind !== 'threshold') return false;
  return repeatedGrowers(policy, before, cause, ranking, nowNs).some(({ workload }) => workload.id === victim.workload.id);
}

/** A carried out standing order with what was not known when it was prepared. */
export function judgedOrder(policy: Policy, before: State, ordered: Decision, nowNs: bigint): Decision {
  const { victim } = ordered;
  const ranking = ordered.ranking.map((item) => (item.workload.id === victim.workload.id ? victim : item));
  return repeats(policy, before, { ...ordered, ranking }, nowNs) ? { ...ordered, repeats: true } : ordered;
}

/** A standing order has carried it out. The victim gets the whole time of a dying one: only now it is observed. */
export function withOrdered(policy: Policy, state: State, decision: Decision, nowNs: bigint): State {
  const hold = decision.unit?.hold;
  return {
    ...state,
    evictions: [...state.evictions, { ...inFlight(decision), phaseSinceNs: nowNs, usageStillSinceNs: nowNs }],
    decisions: Math.max(state.decisions, decision.serial),
    evictionTimes: withBudgeted(policy, state.evictionTimes, decision),
    baselines: withoutBases(state.baselines, decision.resource),
    held: hold ? new Map(state.held).set(hold.unit, hold) : state.held,
  };
}

function hasBase(cause: EvictionCause): boolean {
  return cause.kind === 'threshold' || cause.kind === 'storage-limit' || nodeMemory(cause) !== undefined;
}

/** Node pressure examines no processes for it: its victim gets its signal first. */
function violated(
  { disruptionBudgets = [] }: Policy,
  { evictions, disruptedBudgets }: Choice,
  victim: RankedWorkload,
  found: Victim['found'],
  nowNs: bigint,
): readonly string[] {
  if (disruptionBudgets.length === 0 || victim.process !== undefined) return []; // the workload goes on without one process
  const { veto: _, ...unasked } = found;
  const among = 'presentOf' in found ? found : askedOnce(unasked);
  return violatedBudgets(disruptionBudgets, victim.workload, disruptable(among, { evictions, disruptedBudgets }, nowNs));
}

function unitDecision(
  { pressureTransitionPeriodNs }: Policy,
  choice: Choice,
  cause: EvictionCause,
  { workload: { unit, path }, process: only }: RankedWorkload,
  { serial, stop, grace }: { readonly serial: number; readonly stop: UnitStop | undefined; readonly grace: bigint },
  nowNs: bigint,
): UnitDecision | undefined {
  if (unit === undefined || only !== undefined) return undefined;
  const evictions = evictionsBefore(path, choice, nowNs) + 1;
  if (cause.kind === 'disruption') return { evictions, stop, hold: undefined };
  const stopped = {
    unit: unit.name,
    decision: serial,
    stop,
    evictions,
    isGraceful: grace > 0n,
    condition: conditionOf(cause),
    ...(cause.kind === 'policy' && { byPolicy: { graceNs: grace, stormNs: pressureTransitionPeriodNs } }),
  };
  return { evictions, stop, hold: holdOf(stopped, choice.held, nowNs) };
}

function conditionOf(cause: Exclude<EvictionCause, DisruptionCause>): ConditionType {
  switch (cause.kind) {
    case 'threshold':
      return SIGNAL_FACTS[cause.threshold.signal].condition;
    case 'storage-limit':
      return 'DiskPressure';
    case 'policy':
      return 'MemoryPressure';
  }
}

/** What is not about one resource counts for memory: that is what the end of a workload gives back at once. */
function resourceOf(cause: EvictionCause): Resource {
  switch (cause.kind) {
    case 'threshold':
      return SIGNAL_FACTS[cause.threshold.signal].resource;
    case 'storage-limit':
      return 'ephemeral-storage';
    case 'policy':
    case 'disruption':
      return 'memory';
  }
}

/** The grace period of a pod that sets none (DefaultTerminationGracePeriodSeconds). */
const DEFAULT_GRACE_NS = 30_000_000_000n;

/**
 * A disruption: as asked for, or the workload's own.
 * Hard, or over a storage limit: none, or the kubelet's second. Soft: the smaller of evictionMaxPodGracePeriod and the
 * workload's own. If the former is below 0 it is the smaller one to the kubelet (eviction_manager.go, synchronize,
 * v1.36.2), and no limit to evictd.
 */
function graceNs({ departures, maxPodGracePeriodNs }: Policy, cause: EvictionCause, victim: RankedWorkload): bigint {
  const own = victim.workload.terminationGracePeriodNs;
  if (cause.kind === 'disruption') return cause.graceNs ?? own ?? DEFAULT_GRACE_NS;
  if (cause.kind === 'policy') return own !== undefined && own < cause.graceNs ? own : cause.graceNs;
  if (cause.kind === 'storage-limit' || thresholdKind(cause.threshold) === 'hard') {
    return departures['hard-grace'] ? 0n : KUBELET_HARD_GRACE_NS;
  }
  if (maxPodGracePeriodNs < 0n && departures['soft-default-grace']) return own ?? DEFAULT_GRACE_NS;
  return own !== undefined && own < maxPodGracePeriodNs ? own : maxPodGracePeriodNs;
}
