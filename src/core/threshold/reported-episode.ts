import type { Effect } from '../decide/effect.js';
import type { Observations } from '../signal/observation.js';
import { joined } from './joined-readings.js';
import { thresholdId, type Threshold } from './threshold.js';

/**
 * How long a threshold has to be clear before its episode is over for journal, log, alerts and metrics. Usage that
 * swings around a threshold is one episode, however often it crosses it. The kubelet reads signals at this interval, so
 * it would not see a shorter pause either.
 */
export const CLEAR_FOR_NS = 10_000_000_000n;

/** An episode as it is reported: from the first time that its threshold is met until it has been clear for that long. */
export interface ReportedEpisode {
  readonly threshold: Threshold;
  /** How often it became met. */
  readonly timesMet: number;
  /** undefined: it is met, or owes min reclaim. */
  readonly clearSinceNs: bigint | undefined;
}

/** Episodes by threshold id. */
export type ReportedEpisodes = ReadonlyMap<string, ReportedEpisode>;

/** @param configured  the episode of a threshold that was removed from the configuration ends at once */
export function reportedEpisodes(
  before: ReportedEpisodes,
  met: readonly Threshold[],
  configured: readonly Threshold[],
  nowNs: bigint,
): ReportedEpisodes {
  if (before.size === 0 && met.length === 0) return before;
  const after = new Map<string, ReportedEpisode>();
  for (const threshold of met) {
    const id = thresholdId(threshold);
    const known = before.get(id);
    const isAgain = known === undefined || known.clearSinceNs !== undefined;
    after.set(id, { threshold, timesMet: (known?.timesMet ?? 0) + (isAgain ? 1 : 0), clearSinceNs: undefined });
  }
  const ids = new Set(configured.map(thresholdId));
  for (const [id, episode] of before) {
    const clearSinceNs = episode.clearSinceNs !== undefined && episode.clearSinceNs < nowNs ? episode.clearSinceNs : nowNs;
    if (!after.has(id) && ids.has(id) && nowNs < clearSinceNs + CLEAR_FOR_NS) after.set(id, { ...episode, clearSinceNs });
  }
  return after;
}

/** When the episode is over if its threshold stays clear; undefined: the threshold is met. */
export function episodeEndNs({ clearSinceNs }: ReportedEpisode): bigint | undefined {
  return clearSinceNs === undefined ? undefined : clearSinceNs + CLEAR_FOR_NS;
}

export function episodeEffects(before: ReportedEpisodes, after: ReportedEpisodes, observations: Observations, nowNs: bigint): Effect[] {
  if (before.size === 0 && after.size === 0) return [];
  const effect = ({ threshold, timesMet, clearSinceNs = nowNs }: ReportedEpisode, met: boolean): Effect => {
    return {
      kind: 'threshold',
      threshold,
      met,
      observation: observations.observed.get(threshold.signal),
      ...joined(threshold, observations),
      ...(met ? {} : { over: { timesMet, clearForNs: nowNs - clearSinceNs } }),
    };
  };
  const begun = [...after].filter(([id]) => !before.has(id)).map(([, episode]) => effect(episode, true));
  const ended = [...before].filter(([id]) => !after.has(id)).map(([, episode]) => effect(episode, false));
  return [...begun, ...ended];
}
