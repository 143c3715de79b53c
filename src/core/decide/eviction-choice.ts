import { usedUpBudget } from '../budget/eviction-budget.js';
import { isLeakUncertain, leakSince, pausedBase } from '../budget/leak.js';
import { measuredRanking, selectVictim } from '../rank/victim-selection.js';
import { decide, type Choice } from '../rank/eviction-decision.js';
import type { AlertKind, Effect } from './effect.js';
import { relieved } from '../reclaim/eviction-yield.js';
import { growersSince, growthBase, type GrowthBase, type GrowthBases } from '../reclaim/growth.js';
import { awaitsRelease } from '../reclaim/pending-release.js';
import { isUnmoved, pauseFor, type YieldPauses } from '../reclaim/yield-pause.js';
import { holdersOn } from '../disk/held-space.js';
import { joined, type Joined } from '../threshold/joined-readings.js';
import type { StepInput } from './step-input.js';
import type { Layout } from '../signal/layout.js';
import type { Observation, Observations } from '../signal/observation.js';
import { collectedKey, type Reclaim } from '../reclaim/reclaim.js';
import { stepsFor } from '../reclaim/reclaim-step.js';
import { isStorm } from '../systemd/restart-storm.js';
import { isDiskSignal, SIGNAL_FACTS, type Resource, type Signal } from '../signal/signal.js';
import type { Policy, State } from './state.js';
import {
  allMet,
  byEvictionPriority,
  isResourceThreshold,
  limitOf,
  thresholdId,
  thresholdKind,
  type ResourceThreshold,
  type Threshold,
} from '../threshold/threshold.js';
import type { Candidates } from '../workload/workload.js';

/** The result of looking for a workload to evict or something to reclaim. */
export interface Chosen extends Choice {
  readonly reclaiming: Reclaim | undefined;
  readonly collectedAt: State['collectedAt'];
  readonly withoutYield: YieldPauses;
  readonly growthBases: GrowthBases;
}

export interface ChoiceContext {
  readonly policy: Policy;
  readonly layout: Layout;
  readonly observations: Observations;
  readonly candidates: () => Candidates;
  /** As in StepInput. */
  readonly lastLook: StepInput['lastLook'];
  readonly failedKills: State['failedKills'];
  /** Thresholds whose min reclaim is owed. */
  readonly repaying: readonly Threshold[];
  /** Ids of the only workloads that may be evicted. Left out: any. */
  readonly growers?: ReadonlySet<string>;
  readonly nowNs: bigint;
}

/**
 * Acts on thresholds that were met for their grace period and read anew: at most one victim per resource, or one in
 * total, as in the kubelet (departure each-resource).
 */
export function choose(context: ChoiceContext, before: Chosen, thresholds: readonly ResourceThreshold[]): Chosen {
  const { policy, observations } = context;
  const sorted = thresholds.length > 1 ? [...thresholds].sort(byEvictionPriority) : thresholds;
  const taken = new Set<Resource>(before.evictions.flatMap(({ decision }) => relieved(decision)));
  let chosen = before;
  for (const threshold of sorted) {
    const observation = observations.observed.get(threshold.signal);
    const { resource } = SIGNAL_FACTS[threshold.signal];
    if (observation === undefined || taken.has(resource)) continue;
    if (
      before.reclaiming &&
      SIGNAL_FACTS[before.reclaiming.threshold.signal].resource === resource &&
      waitsFor(before.reclaiming, threshold, context)
    )
      continue;
    if (
      policy.departures['node-yield'] &&
      awaitsRelease(threshold, observations, chosen.evictions, isOwed(context, threshold), context.nowNs)
    )
      continue;
    const paused = pauseFor(threshold.signal, chosen.withoutYield);
    const next = act(context, chosen, threshold, observation, paused);
    // The other signals of memory have the same pause.
    if (paused !== undefined && resource === 'memory') taken.add(resource);
    if (next.settled.has(`decided ${thresholdId(threshold)}`) || next.decisions > chosen.decisions || next.reclaiming !== chosen.reclaiming)
      taken.add(resource);
    for (const { decision } of next.evictions) for (const other of relieved(decision)) taken.add(other);
    chosen = next;
    if (!policy.departures['each-resource']) break;
  }
  return chosen;
}

function act(
  context: ChoiceContext,
  chosen: Chosen,
  threshold: ResourceThreshold,
  observation: Observation,
  paused: Signal | undefined,
): Chosen {
  const { policy, layout } = context;
  const reading = { threshold, observation, ...joined(threshold, context.observations) };
  if (chosen.settled.has(`decided ${thresholdId(threshold)}`)) return chosen;
  if (paused !== undefined) return evictGrower(context, chosen, reading, paused);
  const collections = collectionsOf(policy, layout, threshold).filter(
    (collection) => !isUnmoved(chosen.collectedAt.get(collectedKey(threshold.signal, collection)), threshold, observation),
  );
  if (collections.length === 0 || policy.dryRun) return evictIfPossible(context, chosen, reading, context.candidates);
  // One reclaim at a time: its collections are the same for bytes and inodes, which mostly run out together.
  if (chosen.reclaiming === undefined) return reclaim(context, chosen, { ...reading, collections });
  return waitsFor(chosen.reclaiming, threshold, context) ? chosen : evictIfPossible(context, chosen, reading, context.candidates);
}

/**
 * While a no-yield pause holds, evictd evicts only a workload whose growth since then explains the shortage. The leak
 * itself does not end the pause.
 */
function evictGrower(context: ChoiceContext, chosen: Chosen, reading: ThresholdReading, paused: Signal): Chosen {
  const { policy, layout, observations, candidates } = context;
  const { threshold } = reading;
  const available = observations.observed.get(paused)?.available;
  const relief = chosen.withoutYield.get(paused);
  if (available === undefined || relief === undefined) return alert(chosen, 'no-yield', reading);
  let found: Candidates | undefined = candidates();
  const ranking = measuredRanking(policy, layout, threshold, found);
  const base = chosen.growthBases.get(paused);
  const bases = (now: GrowthBase): GrowthBases => new Map([...chosen.growthBases, [paused, now]]);
  if (base === undefined)
    return alert({ ...chosen, growthBases: bases(growthBase(threshold.signal, ranking, available)) }, 'no-yield', reading);
  const growers = growersSince(base, threshold.signal, ranking, available, relief);
  if (growers.size === 0) return alert(chosen, 'no-yield', reading);
  const read = (): Candidates => {
    const first = found ?? candidates();
    found = undefined;
    return first;
  };
  const next = evictIfPossible({ ...context, growers }, chosen, reading, read);
  if (next.decisions === chosen.decisions) return next;
  return { ...next, growthBases: bases(growthBase(threshold.signal, ranking, available)) };
}

/** A hard threshold waits this long for a reclaim, even if the reclaim continues. */
const RECLAIM_PATIENCE_NS = 60_000_000_000n;

function waitsFor({ observation }: Reclaim, threshold: ResourceThreshold, { nowNs }: Pick<ChoiceContext, 'nowNs'>): boolean {
  return thresholdKind(threshold) === 'soft' || nowNs - (observation.timeNs ?? nowNs) < RECLAIM_PATIENCE_NS;
}

/** The kubelet's collections first, then the operator's steps in their order. */
function collectionsOf(policy: Policy, layout: Layout, threshold: ResourceThreshold): readonly string[] {
  const { signal } = threshold;
  if (!isDiskSignal(signal)) return [];
  const known = (SIGNAL_FACTS[signal].collections?.(layout) ?? []).filter((collection) => policy.collections.has(collection));
  return [...known, ...stepsFor(policy.reclaimSteps ?? [], signal, thresholdKind(threshold))];
}

function reclaim(
  { policy, observations, candidates }: ChoiceContext,
  chosen: Chosen,
  { collections, ...reading }: ThresholdReading & Pick<Reclaim, 'collections'>,
): Chosen {
  const reclaiming = {
    ...reading,
    observations,
    collections,
    candidates: policy.departures['reclaim-scope'] ? undefined : candidates(),
  };
  const effects: readonly Effect[] = [...chosen.effects, attempt(reading), { kind: 'reclaim', reclaim: reclaiming }];
  return { ...chosen, effects, reclaiming };
}

/** Evicts a workload if that can help; else alerts with the reason. */
export function evictIfPossible<C extends Choice>(
  context: Omit<ChoiceContext, 'candidates' | 'observations'>,
  before: C,
  reading: ThresholdReading,
  candidates: () => Candidates,
  attempted = false,
): C {
  const { policy } = context;
  const { resource } = SIGNAL_FACTS[reading.threshold.signal];
  if (!policy.evictable.has(resource)) return alert(before, 'signal-not-evictable', reading);
  if (!policy.hasWorkloadSource) return alert(before, policy.safeMode ? 'safe-mode' : 'no-workload-source', reading);
  const budget = usedUpBudget(policy, before.evictionTimes, resource, context.nowNs);
  if (budget !== undefined) return alert(before, 'budget-exhausted', { ...reading, budget });
  return evict(context, before, reading, candidates, attempted);
}

/** Evicts the first evictable workload. The kubelet reports the attempt even if there is none. */
function evict<C extends Choice>(
  context: Omit<ChoiceContext, 'candidates' | 'observations'>,
  given: C,
  reading: ThresholdReading,
  candidates: () => Candidates,
  attempted = false,
): C {
  const { policy, layout, lastLook, failedKills, growers, nowNs } = context;
  const { threshold, observation } = reading;
  const id = thresholdId(threshold);
  let found: Candidates | undefined;
  const read = (): Candidates => (found = candidates());
  const minReclaimOwed = isOwed(context, threshold);
  const cause = { kind: 'threshold', ...reading, limit: limitOf(threshold, observation.capacity, minReclaimOwed) } as const;
  const selected = selectVictim(policy, layout, cause, read, { failedKills, evictionTimes: given.evictionTimes }, nowNs, growers);
  if (selected === 'awaited') return { ...given, awaiting: true };
  if (selected === 'measuring') return given;
  const waitsSinceNs = selected?.awaitsMeasurement ? (given.measurementAwaitedSince.get(id) ?? nowNs) : undefined;
  const before = withMeasurementWait(given, id, waitsSinceNs);
  if (waitsSinceNs !== undefined && nowNs - waitsSinceNs < MEASURED_WITHIN_NS) return before;
  const attempting = { ...before, effects: attempted ? before.effects : [...before.effects, attempt(reading)] };
  if (policy.departures['last-look'] && isOver(threshold, minReclaimOwed, lastLook?.()))
    return { ...before, awaiting: true, over: [...before.over, id] };
  if (selected === undefined) {
    const budget = bandOf(policy, before, reading, found, nowNs);
    if (budget !== undefined) return alert(before, 'budget-exhausted', { ...reading, budget });
    const holders = holdersOn(threshold.signal, found?.holders, nowNs);
    return alert(policy.departures['each-resource'] ? before : attempting, 'nothing-evictable', {
      ...reading,
      ...(holders && { holders }),
    });
  }
  const leak = policy.departures.budget ? leakSince(before.leakBase, cause, selected.ranking) : undefined;
  if (leak !== undefined && before.leakBase !== undefined) {
    if (isLeakUncertain(before.leakBase, nowNs)) return before;
    const paused = { ...before, leakBase: pausedBase(before.leakBase, cause, selected.ranking) };
    return alert(paused, 'leak-elsewhere', { ...reading, leak });
  }
  const free = withMeasurementWait(attempting, id, undefined);
  const decided = withStormAlert({ ...free, ...decide(policy, free, cause, selected, nowNs) }, before.decisions, reading);
  return policy.dryRun ? { ...decided, settled: new Map([...decided.settled, [`decided ${id}`, id]]) } : decided;
}

/** The band whose limit kept a workload from being evicted; undefined: none did. */
function bandOf(policy: Policy, { evictionTimes }: Choice, { threshold }: ThresholdReading, found: Candidates | undefined, nowNs: bigint) {
  const { resource } = SIGNAL_FACTS[threshold.signal];
  const evictable = (found?.usages ?? []).filter(({ workload }) => workload.protection === undefined);
  const bands = evictable.flatMap(({ workload }) => usedUpBudget(policy, evictionTimes, resource, nowNs, workload.priority) ?? []);
  return bands[0];
}

function isOwed({ repaying }: Pick<ChoiceContext, 'repaying'>, threshold: Threshold): boolean {
  return repaying.some((other) => thresholdId(other) === thresholdId(threshold));
}

/** An eviction is delayed this long while a workload that may rank before the victim is being measured. */
const MEASURED_WITHIN_NS = 60_000_000_000n;

function withMeasurementWait<C extends Choice>(before: C, id: string, sinceNs: bigint | undefined): C {
  if (before.measurementAwaitedSince.get(id) === sinceNs) return before;
  const others = [...before.measurementAwaitedSince].filter(([other]) => other !== id);
  return { ...before, measurementAwaitedSince: new Map(sinceNs === undefined ? others : [...others, [id, sinceNs]]) };
}

/**
 * The largest workload may have ended since the signal was read; evicting the next one would be pointless. An
 * unreadable signal is not over.
 */
function isOver(threshold: Threshold, minReclaimOwed: boolean, observations: Observations | undefined): boolean {
  return observations !== undefined && allMet(threshold, observations, minReclaimOwed) === false;
}

/** A reading of a threshold that can evict, with those of its other operands. */
interface ThresholdReading extends Joined {
  readonly threshold: ResourceThreshold;
  readonly observation: Observation;
}

/** Once per unit and episode. */
function withStormAlert<C extends Choice>(chosen: C, before: number, reading: ThresholdReading): C {
  const decided = chosen.effects.find((effect) => effect.kind === 'evict' && effect.decision.serial > before);
  if (decided?.kind !== 'evict' || !isStorm(decided.decision.unit?.evictions ?? 0)) return chosen;
  const { decision } = decided;
  return alert(chosen, 'restart-storm', { ...reading, decision }, decision.victim.workload.path);
}

/** Thresholds of io, cpu or swap alone do not identify the workload that causes them. They alert and evict nothing. */
export function alertOnly({ observations }: Pick<ChoiceContext, 'observations'>, before: Chosen, thresholds: readonly Threshold[]): Chosen {
  let chosen = before;
  for (const threshold of thresholds) {
    const observation = observations.observed.get(threshold.signal);
    if (isResourceThreshold(threshold) || observation === undefined) continue;
    chosen = alert(chosen, 'alert-only', { threshold, observation, ...joined(threshold, observations) });
  }
  return chosen;
}

function attempt({ threshold, observation }: ThresholdReading): Effect {
  return { kind: 'attempt', resource: SIGNAL_FACTS[threshold.signal].resource, threshold, observation };
}

type AlertEffect = Extract<Effect, { kind: 'alert' }>;

/** Once per episode. */
function alert<C extends Choice>(chosen: C, kind: AlertKind, reading: Omit<AlertEffect, 'kind' | 'alert'>, about = ''): C {
  const id = thresholdId(reading.threshold);
  const key = `${kind}${about} ${id}`;
  if (chosen.settled.has(key)) return chosen;
  const effects: readonly Effect[] = [...chosen.effects, { kind: 'alert', alert: kind, ...reading }];
  return { ...chosen, effects, settled: new Map([...chosen.settled, [key, id]]) };
}
