import { budgetedVictims, exhaustedBudget, withoutVictim } from '../budget/eviction-budget.js';
import { ancestorsOf, memoryBase, pausedBase, withBase, type BaseMoment, type GrowthBase } from '../budget/growth-base.js';
import { growthAtMost, growthSince, isConsumed, isEvictable, isUncertain, leakIn } from '../budget/growth.js';
import { repeatedGrowers } from '../budget/repeated-eviction.js';
import { memoryGrowth, type MemoryGrowth } from '../budget/memory-growth.js';
import type { AlertKind } from '../decide/effect.js';
import { passedOverUntil, type Policy, type State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { holdersOn } from '../disk/held-space.js';
import { memoryOf } from '../reclaim/node-yield.js';
import type { OperatorPause } from '../pause/operator-pause.js';
import type { Reclaim } from '../reclaim/reclaim.js';
import type { YieldPauses } from '../reclaim/yield-pause.js';
import type { Layout } from '../signal/layout.js';
import type { Observation, Observations } from '../signal/observation.js';
import { SIGNAL_FACTS, type ResourceSignal, type Signal } from '../signal/signal.js';
import type { Joined } from '../threshold/joined-readings.js';
import { allMet, limitOf, thresholdId, thresholdKind, type ResourceThreshold, type Threshold } from '../threshold/threshold.js';
import type { Candidates } from '../workload/workload.js';
import type { RankedWorkload } from './rank.js';
import { alert, attempt, withStormAlert, type AlertReading } from './episode-alert.js';
import { decide, type Choice } from './eviction-decision.js';
import { measuredRanking, selectVictim } from './victim-selection.js';

/** The result of looking for a workload to evict or something to reclaim. */
export interface Chosen extends Choice {
  readonly reclaiming: Reclaim | undefined;
  readonly collectedAt: State['collectedAt'];
  readonly withoutYield: YieldPauses;
}

export interface ChoiceContext {
  readonly policy: Policy;
  readonly layout: Layout;
  readonly observations: Observations;
  readonly candidates: () => Candidates;
  /** As in StepInput. */
  readonly recheck: StepInput['recheck'];
  readonly outside: StepInput['outside'];
  readonly failedKills: State['failedKills'];
  readonly refusedEvictions: State['refusedEvictions'];
  /** Thresholds whose min reclaim is owed. */
  readonly repaying: readonly Threshold[];
  /** An operator has paused evictions. Left out: not so. */
  readonly pause?: OperatorPause | undefined;
  /** Ids of the only workloads that may be evicted. Left out: any. */
  readonly growers?: ReadonlySet<string>;
  /** The path of a victim whose eviction does not count anew in the budget. Left out: none. */
  readonly again?: string;
  readonly nowNs: bigint;
}

type AttemptContext = Omit<ChoiceContext, 'candidates' | 'observations'>;

/** Evicts a workload if that can help; else alerts with the reason. */
export function evictIfPossible<C extends Choice>(
  context: AttemptContext,
  before: C,
  reading: ThresholdReading,
  candidates: () => Candidates,
  attempted = false,
): C {
  const { policy, pause } = context;
  if (pause !== undefined) return alertInPause({ ...context, pause: undefined }, pause, before, reading, candidates);
  const { resource } = SIGNAL_FACTS[reading.threshold.signal];
  if (!policy.evictable.has(resource)) return alert(before, 'signal-not-evictable', reading);
  if (!policy.hasWorkloadSource) return alert(before, policy.safeMode ? 'safe-mode' : 'no-workload-source', reading);
  const budget = exhaustedBudget(policy, before.evictionTimes, resource, context.nowNs);
  if (budget === undefined) return evict(context, before, reading, candidates, attempted);
  let found: Candidates | undefined;
  const read = (): Candidates => (found ??= candidates());
  const again = evictAgain(context, before, reading, { read, candidates }, attempted);
  return again ?? alert(before, 'budget-exhausted', { ...reading, budget }, '', () => growthNow(context, before, reading, read));
}

/** The alert says what would have been evicted. What else keeps evictd from evicting is reported as without the pause. */
function alertInPause<C extends Choice>(
  context: AttemptContext,
  { reason }: OperatorPause,
  before: C,
  reading: ThresholdReading,
  candidates: () => Candidates,
): C {
  if (before.settled.has(`paused ${thresholdId(reading.threshold)}`)) return before;
  const next = evictIfPossible(context, before, reading, candidates);
  const decided = next.effects.find((effect) => effect.kind === 'evict' && effect.decision.serial > before.decisions);
  if (decided?.kind !== 'evict') return next;
  return alert(before, 'paused', { ...reading, pause: { reason, wouldEvict: decided.decision } });
}

/**
 * The budget is used up, and one of its victims was started again and is what grows: its eviction does not count anew, and
 * protects the others. undefined: there is no such workload, or it cannot be evicted.
 */
function evictAgain<C extends Choice>(
  context: AttemptContext,
  before: C,
  reading: ThresholdReading,
  { read, candidates }: { readonly read: () => Candidates; readonly candidates: () => Candidates },
  attempted: boolean,
): C | undefined {
  const { policy, layout, growers, nowNs } = context;
  const { threshold, observation } = reading;
  const { resource } = SIGNAL_FACTS[threshold.signal];
  const evicted = budgetedVictims(policy, before.evictionTimes, resource, nowNs);
  if (evicted.size === 0 || !isOfMemory(threshold.signal) || memoryBase(before.baselines) === undefined) return undefined;
  const found = read();
  if (!found.usages.some(({ workload }) => evicted.has(workload.path))) return undefined;
  const cause = { ...reading, limit: limitOf(threshold, observation.capacity, isOwed(context, threshold)) };
  const again = repeatedGrowers(policy, before, cause, measuredRanking(policy, layout, threshold, found), nowNs);
  const [grower] = again.filter(({ workload }) => growers?.has(workload.id) ?? true);
  if (grower === undefined) return undefined;
  const { id, path } = grower.workload;
  const next = evict({ ...context, growers: new Set([id]), again: path }, before, reading, readOnceMore(found, candidates), attempted);
  return next.decisions > before.decisions || next.awaiting ? next : undefined;
}

/** What was read first, and then anew. */
export function readOnceMore(read: Candidates, candidates: () => Candidates): () => Candidates {
  let found: Candidates | undefined = read;
  return () => {
    const first = found ?? candidates();
    found = undefined;
    return first;
  };
}

/** Evicts the first evictable workload. The kubelet reports the attempt even if there is none. */
function evict<C extends Choice>(
  context: AttemptContext,
  given: C,
  reading: ThresholdReading,
  candidates: () => Candidates,
  attempted = false,
): C {
  const { policy, layout, recheck, growers, again, nowNs } = context;
  const { threshold, observation } = reading;
  const id = thresholdId(threshold);
  let found: Candidates | undefined;
  const read = (): Candidates => (found = candidates());
  const minReclaimOwed = isOwed(context, threshold);
  const cause = { kind: 'threshold', ...reading, limit: limitOf(threshold, observation.capacity, minReclaimOwed) } as const;
  const { resource } = SIGNAL_FACTS[threshold.signal];
  const evictionTimes = again === undefined ? given.evictionTimes : withoutVictim(given.evictionTimes, resource, again);
  const passed = passedOverUntil(context, thresholdKind(threshold) === 'soft');
  const selected = selectVictim(policy, layout, cause, read, { failedKills: passed, evictionTimes }, nowNs, growers);
  if (selected === 'awaited') return { ...given, awaiting: true };
  if (selected === 'measuring') return given;
  const waitsSinceNs = selected?.awaitsMeasurement ? (given.measurementAwaitedSince.get(id) ?? nowNs) : undefined;
  const before = withMeasurementWait(given, id, waitsSinceNs);
  if (waitsSinceNs !== undefined && nowNs - waitsSinceNs < MEASURED_WITHIN_NS) return before;
  const attempting = { ...before, effects: attempted ? before.effects : [...before.effects, attempt(reading)] };
  if (policy.departures.recheck && isOver(threshold, minReclaimOwed, recheck?.()))
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
  const leaking = found && leakPause(context, before, reading, cause.limit, found, selected.ranking);
  if (leaking !== undefined) return leaking;
  const free = withMeasurementWait(attempting, id, undefined);
  const decided = withStormAlert({ ...free, ...decide(policy, free, cause, selected, nowNs) }, before.decisions, reading);
  return policy.dryRun ? { ...decided, settled: new Map([...decided.settled, [`decided ${id}`, id]]) } : decided;
}

/** Evictions wait, or a step later is sure; undefined: an eviction may cure the shortage. */
function leakPause<C extends Choice>(
  context: GrowthContext,
  chosen: C,
  reading: ThresholdReading,
  limit: bigint,
  found: Candidates,
  ranked: readonly RankedWorkload[],
): C | undefined {
  const { policy, layout, nowNs } = context;
  const { threshold } = reading;
  const { signal, base } = memoryBase(chosen.baselines) ?? {};
  const memory = memoryOf({ ...reading, limit });
  if (!policy.departures.budget || base === undefined || memory === undefined || memory.signal !== signal) return undefined;
  const { available } = memory.before;
  if (!isConsumed(base, available, nowNs)) return undefined;
  // No signal waits until all are measured if that can change nothing.
  if (isEvictable(growthAtMost(base, threshold.signal, ranked, available))) return undefined;
  const ranking = withPassedOver(measuredRanking(policy, layout, threshold, found), ranked);
  const growth = growthSince(base, threshold.signal, ranking, available);
  if (isEvictable(growth)) return undefined;
  if (isUncertain(base, nowNs)) return chosen;
  const leak = leakIn(base, growth);
  const now = { available, since: { kind: 'leak', freed: leak.freedBytes } } as const;
  return paused(context, chosen, { signal, now, ranking }, 'leak-elsewhere', { ...reading, leak });
}

/** What keeps evictd from evicting the workloads that were passed over before the victim counts, too. */
export function withPassedOver(ranking: readonly RankedWorkload[], ranked: readonly RankedWorkload[]): readonly RankedWorkload[] {
  const passed = new Map(ranked.map(({ workload: { id }, protection }) => [id, protection]));
  return ranking.map((item) => {
    const protection = item.protection ?? passed.get(item.workload.id);
    return protection === undefined || protection.kind === 'no-yield' ? item : { ...item, protection };
  });
}

type GrowthContext = Pick<ChoiceContext, 'policy' | 'layout' | 'outside' | 'nowNs'>;

interface PauseBegin {
  /** The signal whose base is kept. */
  readonly signal: Signal;
  readonly now: { readonly available: bigint; readonly since: BaseMoment };
  /** The ranking with measured usages. */
  readonly ranking: readonly RankedWorkload[];
}

/** The result of a pause: growth counts anew from now on, and the alert names what has grown before. */
export function paused<C extends Choice>(
  context: GrowthContext,
  chosen: C,
  { signal, now, ranking }: PauseBegin,
  kind: AlertKind,
  reading: AlertReading & ThresholdReading,
): C {
  const { outside, nowNs } = context;
  const { threshold } = reading;
  const { base } = memoryBase(chosen.baselines) ?? {};
  const read = isOfMemory(threshold.signal) ? outside?.(ancestorsOf(ranking, base?.outside)) : undefined;
  const next = pausedBase(threshold.signal, ranking, { ...now, atNs: nowNs, ...(read && { outside: read }) });
  const growth = base && isOfMemory(threshold.signal) ? grownIn(base, threshold.signal, ranking, read, nowNs) : undefined;
  return alert({ ...chosen, baselines: withBase(chosen.baselines, signal, next) }, kind, reading, '', () => growth);
}

function isOfMemory(signal: ResourceSignal): boolean {
  return SIGNAL_FACTS[signal].resource === 'memory';
}

/** What has grown since the last eviction, or since evictions wait. undefined: neither is known, or the signal is not of memory. */
function growthNow(
  { policy, layout, outside, nowNs }: GrowthContext,
  { baselines }: Choice,
  { threshold }: Pick<ThresholdReading, 'threshold'>,
  candidates: () => Candidates,
): MemoryGrowth | undefined {
  const { base } = memoryBase(baselines) ?? {};
  if (base === undefined || !isOfMemory(threshold.signal)) return undefined;
  const ranking = measuredRanking(policy, layout, threshold, candidates());
  return grownIn(base, threshold.signal, ranking, outside?.(ancestorsOf(ranking, base.outside)), nowNs);
}

function grownIn(
  base: GrowthBase,
  signal: ResourceSignal,
  ranking: readonly RankedWorkload[],
  outside: GrowthBase['outside'],
  nowNs: bigint,
): MemoryGrowth {
  return memoryGrowth(base, growthSince(base, signal, ranking, base.available), outside, nowNs);
}

/** The band whose limit kept a workload from being evicted; undefined: none did. */
function bandOf(policy: Policy, { evictionTimes }: Choice, { threshold }: ThresholdReading, found: Candidates | undefined, nowNs: bigint) {
  const { resource } = SIGNAL_FACTS[threshold.signal];
  const evictable = (found?.usages ?? []).filter(({ workload }) => workload.protection === undefined);
  const bands = evictable.flatMap(({ workload }) => exhaustedBudget(policy, evictionTimes, resource, nowNs, workload.priority) ?? []);
  return bands[0];
}

export function isOwed({ repaying }: Pick<ChoiceContext, 'repaying'>, threshold: Threshold): boolean {
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
export interface ThresholdReading extends Joined {
  readonly threshold: ResourceThreshold;
  readonly observation: Observation;
  /** As in ThresholdCause. */
  readonly memory?: Observation;
}
