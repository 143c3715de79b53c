import type { Observations } from '../signal/observation.js';
import type { State } from '../decide/state.js';
import { allMet, mergeThresholds, thresholdId, thresholdsMet, type Threshold } from './threshold.js';

/**
 * The thresholds met now, and earlier ones whose min reclaim is still owed (kubelet: synchronize).
 *
 * @param configured  the min reclaim of a threshold that was removed from the configuration is not owed
 * @param keepsSinceNs  an unreadable threshold stays if it was read since then (departure missing-signal); undefined:
 *   it is dropped, as in the kubelet
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
  const unreclaimed = thresholdsMet(before.filter(still), observations, true);
  if (keepsSinceNs === undefined) return mergeThresholds(met, unreclaimed);
  const seen = (threshold: Threshold): boolean => (lastSeenAt.get(thresholdId(threshold)) ?? keepsSinceNs) >= keepsSinceNs;
  const unread = [...episodes.values()].filter(
    (threshold) => allMet(threshold, observations, false) === undefined && still(threshold) && seen(threshold),
  );
  return mergeThresholds(mergeThresholds(met, unreclaimed), unread);
}
