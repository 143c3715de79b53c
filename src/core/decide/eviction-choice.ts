import { memoryBase } from '../budget/growth-base.js';
import { swapHolders } from '../budget/swap-holders.js';
import { growersIn, growthSince, isStatic, leakIn } from '../budget/growth.js';
import { measuredRanking } from '../rank/victim-selection.js';
import { alert, attempt } from '../rank/episode-alert.js';
import {
  evictIfPossible,
  isOwed,
  paused,
  readOnceMore,
  type ChoiceContext,
  type Chosen,
  type ThresholdReading,
} from '../rank/eviction-attempt.js';
import type { RankedWorkload } from '../rank/rank.js';
import { knownBytes } from './eviction.js';
import type { Effect } from './effect.js';
import { relieved } from '../reclaim/eviction-yield.js';
import { memoryOf } from '../reclaim/node-yield.js';
import { awaitsRelease } from '../reclaim/pending-release.js';
import { coverKey, isUnchanged, pauseFor } from '../reclaim/yield-pause.js';
import { joined } from '../threshold/joined-readings.js';
import type { Layout } from '../signal/layout.js';
import type { Observation } from '../signal/observation.js';
import { collectedKey, type Reclaim } from '../reclaim/reclaim.js';
import { stepsFor } from '../reclaim/reclaim-step.js';
import { isDiskSignal, isPressure, SIGNAL_FACTS, type Resource, type Signal } from '../signal/signal.js';
import type { Policy } from './state.js';
import {
  byEvictionPriority,
  isResourceThreshold,
  limitOf,
  thresholdId,
  thresholdKind,
  type ResourceThreshold,
  type Threshold,
} from '../threshold/threshold.js';

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
    const next = act(context, chosen, threshold, observation);
    // The other signals of memory have the same pause.
    if (resource === 'memory' && pauseFor(threshold.signal, chosen.withoutYield) !== undefined) taken.add(resource);
    if (next.settled.has(`decided ${thresholdId(threshold)}`) || next.decisions > chosen.decisions || next.reclaiming !== chosen.reclaiming)
      taken.add(resource);
    for (const { decision } of next.evictions) for (const other of relieved(decision)) taken.add(other);
    chosen = next;
    if (!policy.departures['each-resource']) break;
  }
  return chosen;
}

function act(context: ChoiceContext, chosen: Chosen, threshold: ResourceThreshold, observation: Observation): Chosen {
  const { policy, layout } = context;
  const memory = isPressure(threshold.signal) ? context.observations.observed.get('memory.available') : undefined;
  const reading = { threshold, observation, ...joined(threshold, context.observations), ...(memory && { memory }) };
  if (chosen.settled.has(`decided ${thresholdId(threshold)}`)) return chosen;
  const pause = pauseOf(context, chosen, reading);
  if (pause !== undefined) return evictInPause(context, chosen, reading, pause);
  const collections = collectionsOf(policy, layout, threshold).filter(
    (collection) => !isUnchanged(chosen.collectedAt.get(collectedKey(threshold.signal, collection)), threshold, observation),
  );
  if (collections.length === 0 || policy.dryRun) return evictIfPossible(context, chosen, reading, context.candidates);
  // One reclaim at a time: its collections are the same for bytes and inodes, which mostly run out together.
  if (chosen.reclaiming === undefined) return reclaim(context, chosen, { ...reading, collections });
  return waitsFor(chosen.reclaiming, threshold, context) ? chosen : evictIfPossible(context, chosen, reading, context.candidates);
}

/** Evictions wait for memory to become available again, or for workloads whose eviction would cure the shortage. */
interface Pause {
  readonly kind: 'no-yield' | 'leak';
  /** Whose value counts. */
  readonly signal: Signal;
  /** How much has to be available for it to end. */
  readonly relief: bigint;
}

function pauseOf({ policy, repaying }: ChoiceContext, { withoutYield, baselines }: Chosen, reading: ThresholdReading): Pause | undefined {
  const { threshold, observation } = reading;
  const signal = pauseFor(threshold.signal, withoutYield);
  const relief = signal && withoutYield.get(signal);
  if (signal !== undefined && relief !== undefined) return { kind: 'no-yield', signal, relief };
  const last = memoryBase(baselines);
  if (!policy.departures.budget || last?.base.since.kind !== 'leak') return undefined;
  const memory = memoryOf({ ...reading, limit: limitOf(threshold, observation.capacity, isOwed({ repaying }, threshold)) });
  if (memory?.signal !== last.signal) return undefined;
  return { kind: 'leak', signal: memory.signal, relief: memory.limit ?? memory.before.available };
}

const ALERT_OF = { 'no-yield': 'no-yield', leak: 'leak-elsewhere' } as const;

/**
 * While evictions wait, evictd evicts only a workload whose growth since then explains the shortage. Where nothing grows,
 * it evicts one workload that ends the shortage alone.
 */
function evictInPause(context: ChoiceContext, chosen: Chosen, reading: ThresholdReading, pause: Pause): Chosen {
  const { policy, layout, observations, candidates, nowNs } = context;
  const { kind, signal, relief } = pause;
  const { threshold } = reading;
  const available = observations.observed.get(signal)?.available;
  if (available === undefined) return alert(chosen, ALERT_OF[kind], reading);
  const found = candidates();
  const ranking = measuredRanking(policy, layout, threshold, found);
  const base = chosen.baselines.get(signal);
  if (base?.since.kind !== kind) {
    const last = memoryBase(chosen.baselines)?.base.since;
    const isOfIt = last?.kind === 'eviction' && SIGNAL_FACTS[signal].resource === 'memory';
    const now = { available, since: { kind: 'no-yield', relief, ...(isOfIt && { last }) } } as const;
    return paused(context, chosen, { signal, now, ranking }, 'no-yield', reading);
  }
  const growth = growthSince(base, threshold.signal, ranking, available);
  const growers = growersIn(base, growth, relief);
  const key = coverKey(signal);
  const canCover =
    kind === 'no-yield' &&
    SIGNAL_FACTS[threshold.signal].resource === 'memory' &&
    !chosen.settled.has(key) &&
    isStatic(base, growth, relief, nowNs);
  const evictable = growers.size === 0 && canCover ? covering(reading, ranking, relief) : growers;
  if (evictable.size === 0) {
    const leak = kind === 'leak' ? { leak: leakIn(base, growth) } : {};
    return alert(chosen, ALERT_OF[kind], { ...reading, ...leak });
  }
  const next = evictIfPossible({ ...context, growers: evictable }, chosen, reading, readOnceMore(found, candidates));
  if (growers.size > 0 || next.decisions === chosen.decisions) return next;
  return { ...next, settled: new Map([...next.settled, [key, thresholdId(threshold)]]) };
}

/** The ids of the workloads of which one frees all that is missing, with the min reclaim, or else what ends the pause. */
function covering(reading: ThresholdReading, ranking: readonly RankedWorkload[], relief: bigint): ReadonlySet<string> {
  const { threshold, observation } = reading;
  const memory = memoryOf({ ...reading, limit: limitOf(threshold, observation.capacity, true) });
  if (memory === undefined) return new Set();
  const missing = (memory.limit ?? relief) - memory.before.available;
  if (missing <= 0n) return new Set(); // relief, which ends the pause if it lasts
  return new Set(ranking.flatMap((item) => (!item.stats?.workingSetAtMost && (knownBytes(item) ?? 0n) >= missing ? item.workload.id : [])));
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

/** Thresholds of io, cpu or swap alone do not identify the workload that causes them. They alert and evict nothing. */
export function alertOnly(
  { policy, observations, candidates }: Pick<ChoiceContext, 'policy' | 'observations' | 'candidates'>,
  before: Chosen,
  thresholds: readonly Threshold[],
): Chosen {
  let chosen = before;
  for (const threshold of thresholds) {
    const observation = observations.observed.get(threshold.signal);
    if (isResourceThreshold(threshold) || observation === undefined) continue;
    const isNew = !chosen.settled.has(`alert-only ${thresholdId(threshold)}`);
    const isOfSwap = threshold.signal === 'swap.available' && policy.hasWorkloadSource;
    const swap = isNew && isOfSwap ? { swap: swapHolders(candidates().usages, observation) } : {};
    chosen = alert(chosen, 'alert-only', { threshold, observation, ...joined(threshold, observations), ...swap });
  }
  return chosen;
}
