import type { Effect } from './effect.js';
import type { Observations } from './observation.js';
import { joined } from './joined.js';
import type { State } from './state.js';
import { allMet, mergeThresholds, thresholdId, thresholdsMet, type Threshold } from './threshold.js';

/** The thresholds in an episode, by id. */
export type Episodes = ReadonlyMap<string, Threshold>;

/**
 * Those met now, and those met before that have not been paid back with their min reclaim (kubelet: synchronize).
 *
 * @param configured  thresholds that left the configuration have no episode any more
 * @param keepsSinceNs  without a reading an episode that was seen since then goes on (departure missing-signal); undefined: it is forgotten, as in
 *   the kubelet
 */
export function thresholdsMetOrOwed(
  thresholds: readonly Threshold[],
  configured: readonly Threshold[],
  { thresholdsMet: before, episodes, lastSeenAt }: State,
  observations: Observations,
  keepsSinceNs: bigint | undefined,
): Threshold[] {
  const met = thresholdsMet(thresholds, observations, false);
  if (before.length === 0 && episodes.size === 0) return met;
  const ids = new Set(configured.map(thresholdId));
  const still = (threshold: Threshold): boolean => ids.has(thresholdId(threshold));
  const owed = thresholdsMet(before.filter(still), observations, true);
  if (keepsSinceNs === undefined) return mergeThresholds(met, owed);
  const seen = (threshold: Threshold): boolean => (lastSeenAt.get(thresholdId(threshold)) ?? keepsSinceNs) >= keepsSinceNs;
  const unread = [...episodes.values()].filter(
    (threshold) => allMet(threshold, observations, false) === undefined && still(threshold) && seen(threshold),
  );
  return mergeThresholds(mergeThresholds(met, owed), unread);
}

/** What begins and what ends. */
export function episodeEffects(before: Episodes, after: Episodes, observations: Observations): Effect[] {
  if (before.size === 0 && after.size === 0) return [];
  const effect = (threshold: Threshold, met: boolean): Effect => {
    return {
      kind: 'threshold',
      threshold,
      met,
      observation: observations.observed.get(threshold.signal),
      ...joined(threshold, observations),
    };
  };
  const begun = [...after].filter(([id]) => !before.has(id)).map(([, threshold]) => effect(threshold, true));
  const ended = [...before].filter(([id]) => !after.has(id)).map(([, threshold]) => effect(threshold, false));
  return [...begun, ...ended];
}
