import type { Outcome } from '../decide/eviction.js';
import type { RankedWorkload } from '../rank/rank.js';
import { minYield } from '../rank/shortfall.js';
import type { Observation } from '../signal/observation.js';
import { operatorOf, SIGNAL_FACTS, type Signal } from '../signal/signal.js';
import { limitOf, type Threshold } from '../threshold/threshold.js';
import type { JudgedMemory } from './node-yield.js';

/**
 * Pauses by signal: after an eviction that freed too little, evictd evicts no workload for it (for memory: for any signal of
 * memory) until its value has reached this one for as long as a threshold must be clear for its episode to end.
 */
export type YieldPauses = ReadonlyMap<Signal, bigint>;

/** Relief is a rise by this part of what has to be available, … */
const OF_LIMIT = 20n;
/** … and by this part of what was missing: memory always changes, and one more page is not a reason to try again. */
const OF_MISSING = 2n;

/**
 * undefined: the eviction freed enough, or did not happen.
 *
 * @param looksForLeaks  departure budget, which finds out itself what took the memory (leak.ts)
 */
export function pauseAfter(
  { result, decision, nodeAfter, nodeFreedBytes, notFreed }: Outcome,
  judged: JudgedMemory | undefined,
  looksForLeaks: boolean,
): { readonly signal: Signal; readonly untilAvailable: bigint } | undefined {
  const { cause, resource, victim } = decision;
  if (result !== 'killed' && result !== 'ineffective') return undefined;
  if (cause.kind !== 'threshold') return result === 'ineffective' ? pauseByNode(judged, victim, nodeFreedBytes) : undefined;
  const before = cause.observation.available;
  const after = nodeAfter?.available ?? before;
  const least = victim.workload.pod === undefined ? minYield(cause) : 1n;
  if (resource === 'memory' ? result === 'killed' : after - before >= least) return undefined;
  if (looksForLeaks && notFreed === 'taken' && SIGNAL_FACTS[cause.threshold.signal].unit === 'bytes') return undefined;
  const { signal } = cause.threshold;
  return pauseByNode(judged, victim, nodeFreedBytes) ?? { signal, untilAvailable: reliefAt(operatorOf(signal), after, cause.limit) };
}

/** The pause of an eviction without a required amount: what the victim used was missing. undefined: the node does not judge. */
function pauseByNode(
  judged: JudgedMemory | undefined,
  { stats }: RankedWorkload,
  freed: bigint | undefined,
): ReturnType<typeof pauseAfter> {
  if (judged === undefined || freed === undefined) return undefined;
  const { signal, before, limit = before.available + (stats?.workingSetBytes ?? 0n) } = judged;
  return { signal, untilAvailable: reliefAt('<', before.available + freed, limit) };
}

function reliefAt(operator: '<' | '>', value: bigint, limit: bigint): bigint {
  const missing = operator === '<' ? limit - value : value - limit;
  const [part, half] = [limit / OF_LIMIT, missing / OF_MISSING];
  const change = part > half ? part : half;
  if (change >= missing) return limit;
  return operator === '<' ? value + change : value - change;
}

/** The signal whose pause holds for this one; undefined: none does. */
export function pauseFor(signal: Signal, pauses: YieldPauses): Signal | undefined {
  if (pauses.size === 0) return undefined;
  if (SIGNAL_FACTS[signal].resource !== 'memory') return pauses.has(signal) ? signal : undefined;
  return [...pauses.keys()].find((other) => SIGNAL_FACTS[other].resource === 'memory');
}

const COVERED = 'covered ';

/** A key of `settled`: in the pause of this signal a workload that frees all that was missing was evicted. */
export function coverKey(signal: Signal): string {
  return COVERED + signal;
}

/** Whether a key of `settled` is of a pause that is over. */
export function isOfEndedPause(key: string, pauses: YieldPauses): boolean {
  return key.startsWith(COVERED) && ![...pauses.keys()].some((signal) => key === coverKey(signal));
}

/** Reports whether a value is less than a twentieth of the threshold away from its value after a reclaim. */
export function isUnchanged(value: bigint | undefined, threshold: Threshold, { available, capacity }: Observation): boolean {
  if (value === undefined) return false;
  const moved = available > value ? available - value : value - available;
  return moved * OF_LIMIT < limitOf(threshold, capacity, false);
}
