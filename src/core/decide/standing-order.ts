import { memoryBase, withoutBases } from '../budget/growth-base.js';
import { growthSince, isConsumed, isEvictable } from '../budget/growth.js';
import { pauseFor } from '../reclaim/yield-pause.js';
import { measureAt, measuredRanking, passedOver } from '../rank/victim-selection.js';
import { withPassedOver } from '../rank/eviction-attempt.js';
import { choiceOf, decide } from '../rank/eviction-decision.js';
import { assignPlaces, type RankedWorkload } from '../rank/rank.js';
import type { Layout } from '../signal/layout.js';
import type { Observation, Observations } from '../signal/observation.js';
import { orderedLimit, type OrderedLimit } from '../threshold/ordered-limit.js';
import type { Candidates } from '../workload/workload.js';
import { decisionsOf } from './effect.js';
import type { Decision } from './eviction.js';
import type { Policy, State } from './state.js';
import { step } from './step.js';
import { NANO, maxBigInt } from '../quantity/integer.js';

/**
 * carried-out: SIGKILL was sent. refused: the kernel refused it. outdated: one of its workloads has ended or changed
 * meanwhile, or another has grown, so it sent none.
 */
export const ORDER_OUTCOMES = ['carried-out', 'refused', 'outdated'] as const;
export type OrderOutcome = (typeof ORDER_OUTCOMES)[number];

/** How many workloads an order has: those that may have become the largest when it is carried out. */
const CANDIDATES = 8;

/** An order is used this long at most. */
export const ORDER_LIFE_NS = 10_000_000_000n;
/** While the value falls, an order is renewed each time the value has covered this part of the distance to the threshold. */
const PART_LEFT = 4n;
const MIN_RENEWAL_INTERVAL_NS = 100_000_000n;
const RENEWED_EVERY_NS = ORDER_LIFE_NS / 2n;

/** The threshold that a standing order is for, and its reading. */
export interface OrderedThreshold extends OrderedLimit {
  readonly observation: Observation;
}

export function orderedThreshold({ thresholds }: Policy, { observed }: Observations): OrderedThreshold | undefined {
  const observation = observed.get('memory.available');
  const ordered = observation && orderedLimit(thresholds, observation.capacity);
  return ordered && { ...ordered, observation };
}

/** Whether less than twice the threshold is available, so that an order has to stand. The sampler wakes there, too. */
export function isNear({ observation, limit }: OrderedThreshold): boolean {
  return observation.available < 2n * limit;
}

/**
 * When an order has to be renewed: the sooner, the sooner the value may reach the threshold at its recent rate.
 *
 * @param before  the reading that the order before was made from; undefined: there was none
 */
export function renewalNs({ observation, limit }: OrderedThreshold, before: Observation | undefined, nowNs: bigint): bigint {
  const fallen = (before?.available ?? observation.available) - observation.available;
  const elapsedNs = nowNs - (before?.timeNs ?? nowNs);
  if (fallen <= 0n || elapsedNs <= 0n) return nowNs + RENEWED_EVERY_NS;
  const left = observation.available > limit ? observation.available - limit : 0n;
  const partNs = (left * elapsedNs) / fallen / PART_LEFT;
  return nowNs + (partNs < MIN_RENEWAL_INTERVAL_NS ? MIN_RENEWAL_INTERVAL_NS : partNs > RENEWED_EVERY_NS ? RENEWED_EVERY_NS : partNs);
}

/** The value has fallen so much since the last order that other workloads may be the largest. */
export function hasFallen({ observation, limit }: OrderedThreshold, before: Observation | undefined): boolean {
  if (before === undefined || before.available <= observation.available) return false;
  return (before.available - observation.available) * PART_LEFT > before.available - limit;
}

export interface OrderInput {
  readonly nowNs: bigint;
  readonly layout: Layout;
  readonly observations: Observations;
  readonly candidates: Candidates;
}

/**
 * The alternative decisions if the threshold were crossed now. The first is the decision of a step. The others are for the
 * workloads after its victim that differ from the victim only in their usage.
 *
 * Empty if a step would evict nothing, would wait, or would give a grace period. Also empty while a no-yield pause or an
 * operator's pause holds, or while a consumer that may not be evicted takes the memory that the last eviction freed.
 */
export function standingDecisions(policy: Policy, state: State, ordered: OrderedThreshold, input: OrderInput): readonly Decision[] {
  const { nowNs, layout, candidates } = input;
  const isPaused = memoryBase(state.baselines)?.base.since.kind === 'leak' || pauseFor(ordered.threshold.signal, state.withoutYield);
  if (isPaused) return [];
  const first = decisionNow(policy, state, ordered, input);
  if (first === undefined || first.graceNs > 0n || first.dryRun || first.victim.usage === undefined) return [];
  const { cause, victim } = first;
  if (policy.departures.budget && isLeaking(policy, state, ordered, first.ranking, input)) return [];
  const others: RankedWorkload[] = [];
  const ranking = [...first.ranking];
  for (let index = ranking.indexOf(victim) + 1; index < ranking.length && others.length < CANDIDATES - 1; index += 1) {
    while (measureAt(policy, layout, ordered.threshold.signal, ranking, index, candidates));
    const other = ranking[index];
    // passedOver looks for processes, so it is asked for no more than are needed.
    const isPossible = other && isAlike(other, victim) && passedOver(policy, first.resource, other, candidates, state, nowNs) === undefined;
    if (isPossible && candidates.awaited?.(other.workload, 0n) !== true) others.push(other);
  }
  assignPlaces(ranking);
  const before = choiceOf(state);
  const decided = others.flatMap((other) => {
    const unitStop = candidates.stop?.(other.workload);
    const { effects } = decide(policy, before, cause, { victim: other, ranking, found: candidates, unitStop }, nowNs);
    return decisionsOf(effects);
  });
  return [{ ...first, ranking }, ...decided];
}

/**
 * Whether a victim has become protected since the decisions were made. Called once the order is placed: the native layer
 * sees later changes, and sees by itself that a victim has ended or is empty.
 */
export function hasForbidden(decisions: readonly Decision[], { veto }: Pick<Candidates, 'veto'>): boolean {
  return decisions.some(({ victim: { workload } }) => {
    const kind = veto?.(workload)?.kind;
    return kind !== undefined && kind !== 'vacant' && kind !== 'removed';
  });
}

/** Whether most of what has consumed the memory of the last eviction is not curable. */
function isLeaking(
  policy: Policy,
  { baselines }: State,
  { threshold, observation: { available } }: OrderedThreshold,
  ranked: readonly RankedWorkload[],
  { nowNs, layout, candidates }: OrderInput,
): boolean {
  const last = memoryBase(baselines);
  if (last?.signal !== threshold.signal || !isConsumed(last.base, available, nowNs)) return false;
  const ranking = withPassedOver(measuredRanking(policy, layout, threshold, candidates), ranked);
  return !isEvictable(growthSince(last.base, threshold.signal, ranking, available));
}

/** What a step would decide if one byte less than the threshold were available. */
function decisionNow(policy: Policy, state: State, { threshold, observation, limit }: OrderedThreshold, input: OrderInput) {
  const { nowNs, layout, observations, candidates } = input;
  const crossed: Observation = { ...observation, available: limit - 1n, timeNs: nowNs };
  const observe = (): Observations => ({ ...observations, observed: new Map([[threshold.signal, crossed]]) });
  // Later growth is not known, so a leak is judged by the current reading.
  const before = { ...state, baselines: withoutBases(state.baselines, 'memory') };
  const { effects } = step({ ...policy, thresholds: [threshold], policies: [], localStorageCapacityIsolation: false }, before, {
    nowNs,
    layout,
    observe,
    recheck: observe,
    victims: new Map(),
    reclaimed: undefined,
    candidates: () => candidates,
  });
  return decisionsOf(effects)[0];
}

/** Whether only their usage decides which of both comes first. */
function isAlike(other: RankedWorkload, victim: RankedWorkload): boolean {
  return (
    other.protection === undefined &&
    other.usage !== undefined &&
    other.exceedsRequest === victim.exceedsRequest &&
    other.priority === victim.priority &&
    (other.workload.avoid ?? false) === (victim.workload.avoid ?? false)
  );
}

/** What the native layer saw and did. Times are monotonic. */
export interface OrderFacts {
  readonly available: bigint;
  /** The victim's working set. */
  readonly usage: bigint;
  readonly crossedAtNs: bigint;
  readonly signalledAtNs: bigint;
}

/** A prepared decision with the values by which it was carried out. */
export function carriedOut(prepared: Decision, { available, usage, crossedAtNs, signalledAtNs }: OrderFacts): Decision {
  const { victim, cause, decidedAtNs: preparedAtNs } = prepared;
  const { requestNano, stats } = victim;
  const usageNano = (usage - (victim.stays ?? 0n)) * NANO;
  return {
    ...prepared,
    decidedAtNs: signalledAtNs,
    cause: cause.kind === 'threshold' ? { ...cause, observation: { ...cause.observation, available, timeNs: crossedAtNs } } : cause,
    victim: {
      ...victim,
      usage,
      exceedsRequest: usageNano > requestNano,
      aboveRequestNano: usageNano - requestNano,
      stats: stats && { ...stats, workingSetBytes: usage, usageBytes: maxBigInt(stats.usageBytes ?? 0n, usage) },
    },
    standingOrder: { preparedAtNs, crossedAtNs, signalledAtNs },
  };
}

/** The amount that a value of the native layer stands for: at `atLeast` one less than the limit is available. */
export function availableAt(node: number, atLeast: number, limit: bigint): bigint {
  return maxBigInt(limit - 1n - BigInt(Math.round(node - atLeast)), 0n);
}

/** What the native layer has left of an order that an earlier evictd did not live to see. Times are monotonic. */
export interface OrderLeft {
  readonly atLeast: number;
  readonly limit: string;
  /** The values that were compared. */
  readonly node: number;
  readonly value: number;
  readonly crossedAtNs: bigint;
  readonly decidedAtNs: bigint;
}

/** @param prepared  as it was saved with the record */
export function foundDecision(prepared: Decision, { atLeast, limit, node, value, crossedAtNs, decidedAtNs }: OrderLeft): Decision {
  return carriedOut(prepared, {
    available: availableAt(node, atLeast, BigInt(limit)),
    usage: BigInt(Math.round(value)),
    crossedAtNs,
    signalledAtNs: decidedAtNs,
  });
}
