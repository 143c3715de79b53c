import { decide, selectVictim, type Choice } from './decision.js';
import type { AlertKind, Effect } from './effect.js';
import { joined, type Joined } from './joined.js';
import type { Layout } from './layout.js';
import type { Observation, Observations } from './observation.js';
import { collectionsFor, type Reclaim } from './reclaim.js';
import { SIGNAL_FACTS, type Resource, type Signal } from './signal.js';
import type { Policy, State } from './state.js';
import { byEvictionPriority, isResourceThreshold, limitOf, thresholdId, type ResourceThreshold, type Threshold } from './threshold.js';
import type { Candidates } from './workload.js';

/** What came of looking for somebody to evict, or something to reclaim. */
export interface Chosen extends Choice {
  readonly reclaiming: Reclaim | undefined;
  readonly withoutYield: ReadonlyMap<Signal, bigint>;
}

/** Everything that a choice depends on besides the choice so far. */
export interface ChoiceContext {
  readonly policy: Policy;
  readonly layout: Layout;
  readonly observations: Observations;
  readonly candidates: () => Candidates;
  readonly failedKills: State['failedKills'];
  /** Thresholds whose min reclaim is owed. */
  readonly repaying: readonly Threshold[];
  readonly nowNs: bigint;
}

/**
 * Acts on thresholds that have been met for their grace period and were read anew: at most one victim per resource, or the kubelet's one at all
 * (departure each-resource).
 */
export function choose(context: ChoiceContext, before: Chosen, thresholds: readonly ResourceThreshold[]): Chosen {
  const { policy, observations } = context;
  const sorted = thresholds.length > 1 ? [...thresholds].sort(byEvictionPriority) : thresholds;
  const taken = new Set<Resource>(before.evictions.map(({ decision }) => decision.resource));
  if (before.reclaiming) taken.add(SIGNAL_FACTS[before.reclaiming.threshold.signal].resource);
  let chosen = before;
  for (const threshold of sorted) {
    const observation = observations.observed.get(threshold.signal);
    const { resource } = SIGNAL_FACTS[threshold.signal];
    if (observation === undefined || taken.has(resource)) continue;
    const next = act(context, chosen, threshold, observation);
    if (next.settled.has(`decided ${thresholdId(threshold)}`) || next.decisions > chosen.decisions || next.reclaiming !== chosen.reclaiming)
      taken.add(resource);
    chosen = next;
    if (!policy.departures['each-resource']) break;
  }
  return chosen;
}

function act(context: ChoiceContext, chosen: Chosen, threshold: ResourceThreshold, observation: Observation): Chosen {
  const { policy, layout } = context;
  const { resource } = SIGNAL_FACTS[threshold.signal];
  const reading = { threshold, observation, ...joined(threshold, context.observations) };
  if (!policy.evictable.has(resource)) return alert(chosen, 'signal-not-evictable', reading);
  if (!policy.hasWorkloadSource) return alert(chosen, 'no-workload-source', reading);
  if (chosen.settled.has(`decided ${thresholdId(threshold)}`)) return chosen;
  if (isWithoutYield(chosen.withoutYield.get(threshold.signal), threshold, observation)) return alert(chosen, 'no-yield', reading);
  const withoutYield = new Map([...chosen.withoutYield].filter(([signal]) => signal !== threshold.signal));
  const yielding = withoutYield.size === chosen.withoutYield.size ? chosen : { ...chosen, withoutYield };
  const collections = collectionsFor(threshold.signal, layout).filter((collection) => policy.collections.has(collection));
  if (collections.length === 0 || policy.dryRun) return evict(context, yielding, reading, context.candidates);
  // One reclaim at a time: the collections are the same, and bytes and inodes are mostly short together.
  return yielding.reclaiming ? yielding : reclaim(context, yielding, { ...reading, collections });
}

/** A change is one of at least this part of the threshold: memory never stands still, and a page more or less is no reason to try again. */
const CHANGE = 20n;

function isWithoutYield(value: bigint | undefined, threshold: ResourceThreshold, { available, capacity }: Observation): boolean {
  if (value === undefined) return false;
  const moved = available > value ? available - value : value - available;
  return moved * CHANGE < limitOf(threshold, capacity, false);
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

/** Evicts the first that may be; the kubelet tells that it attempts to even where nobody may. */
export function evict<C extends Choice>(
  { policy, layout, failedKills, repaying, nowNs }: Omit<ChoiceContext, 'candidates' | 'observations'>,
  before: C,
  reading: ThresholdReading,
  candidates: () => Candidates,
  attempted = false,
): C {
  const { threshold, observation } = reading;
  const id = thresholdId(threshold);
  const attempting = { ...before, effects: attempted ? before.effects : [...before.effects, attempt(reading)] };
  const selected = selectVictim(policy, layout, { threshold }, candidates, failedKills, nowNs);
  if (selected === undefined) {
    return alert(policy.departures['each-resource'] ? before : attempting, 'nothing-evictable', reading);
  }
  const owed = repaying.some((other) => thresholdId(other) === id);
  const cause = { kind: 'threshold', ...reading, limit: limitOf(threshold, observation.capacity, owed) } as const;
  const decided = { ...attempting, ...decide(policy, attempting, cause, selected, nowNs) };
  return policy.dryRun ? { ...decided, settled: new Map([...decided.settled, [`decided ${id}`, id]]) } : decided;
}

/** A threshold of which somebody may be evicted, with what was read for all of its operands. */
interface ThresholdReading extends Joined {
  readonly threshold: ResourceThreshold;
  readonly observation: Observation;
}

/** Thresholds of io, cpu or swap alone: whom an eviction would relieve is not known, so that they are told, and nobody goes. */
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
function alert<C extends Choice>(chosen: C, kind: AlertKind, reading: Omit<AlertEffect, 'kind' | 'alert'>): C {
  const id = thresholdId(reading.threshold);
  const key = `${kind} ${id}`;
  if (chosen.settled.has(key)) return chosen;
  const effects: readonly Effect[] = [...chosen.effects, { kind: 'alert', alert: kind, ...reading }];
  return { ...chosen, effects, settled: new Map([...chosen.settled, [key, id]]) };
}
