import type { Observations } from '../signal/observation.js';
import type { Decision } from '../decide/eviction.js';
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

/** The threshold that a carried out standing order found crossed. The memory may be back by now. */
export function crossedBy(ordered: Decision | undefined, configured: readonly Threshold[]): readonly Threshold[] {
  if (ordered?.cause.kind !== 'threshold') return [];
  const id = thresholdId(ordered.cause.threshold);
  return configured.filter((threshold) => thresholdId(threshold) === id);
}

/** The readings, with the one by which a standing order was carried out. */
export function atCrossing(ordered: Decision | undefined, observations: Observations): Observations {
  if (ordered?.cause.kind !== 'threshold') return observations;
  const { threshold, observation } = ordered.cause;
  return { ...observations, observed: new Map([...observations.observed, [threshold.signal, observation]]) };
}
