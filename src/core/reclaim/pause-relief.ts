import type { Observation, Observations } from '../signal/observation.js';
import { operatorOf, SIGNAL_FACTS, type Resource, type Signal } from '../signal/signal.js';
import { CLEAR_FOR_NS, type ReportedEpisodes } from '../threshold/reported-episode.js';
import type { YieldPauses } from './yield-pause.js';

/** Since when there has been relief in a pause, by its signal; monotonic. */
export type RelievedSince = ReadonlyMap<Signal, bigint>;

/** What keeps pauses. */
export interface PauseCauses {
  readonly reported: ReportedEpisodes;
  /** A policy can evict for the node. */
  readonly hasPolicy: boolean;
  /** The condition of such a policy holds. */
  readonly byPolicy: () => boolean;
}

/**
 * The pauses without those that have ended: no episode of theirs is left and no policy, or there has been relief for long
 * enough. Relief: the value is reached, or neither a threshold of theirs is met nor the condition of a policy. A leak outside
 * the workloads swings, too, and a pause that its swing ended would cost one workload each time.
 */
export function pausesNow(
  pauses: YieldPauses,
  since: RelievedSince,
  { reported, hasPolicy, byPolicy }: PauseCauses,
  { observed }: Observations,
  nowNs: bigint,
): { readonly withoutYield: YieldPauses; readonly relievedSince: RelievedSince } {
  if (pauses.size === 0) return { withoutYield: pauses, relievedSince: NONE };
  const relievedSince = new Map<Signal, bigint>();
  const left = [...pauses].filter(([signal, until]) => {
    const episodes = [...reported.values()].filter(({ threshold }) => sharesPause(signal, threshold.signal));
    const isOfPolicy = isMemory(signal) && hasPolicy;
    if (episodes.length === 0 && !isOfPolicy) return false;
    const isMet = episodes.some(({ clearSinceNs }) => clearSinceNs === undefined) || (isOfPolicy && byPolicy());
    if (isMet && !isReached(signal, until, observed.get(signal))) return true;
    const sinceNs = since.get(signal) ?? nowNs;
    relievedSince.set(signal, sinceNs);
    return nowNs < pauseEndNs(sinceNs);
  });
  return { withoutYield: left.length === pauses.size ? pauses : new Map(left), relievedSince };
}

const NONE: RelievedSince = new Map();

/** When a pause ends if the relief that began then lasts. */
export function pauseEndNs(relievedSinceNs: bigint): bigint {
  return relievedSinceNs + CLEAR_FOR_NS;
}

function sharesPause(signal: Signal, other: Signal): boolean {
  return other === signal || (isMemory(signal) && isMemory(other));
}

function isMemory(signal: Signal): boolean {
  const resource: Resource | undefined = SIGNAL_FACTS[signal].resource;
  return resource === 'memory';
}

/** An unreadable signal has not reached it. */
function isReached(signal: Signal, until: bigint, observation: Observation | undefined): boolean {
  if (observation === undefined) return false;
  return operatorOf(signal) === '<' ? observation.available >= until : observation.available <= until;
}
