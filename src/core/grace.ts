import type { Observations } from './observation.js';
import type { Signal } from './signal.js';
import { operandsOf, thresholdId, type Threshold } from './threshold.js';

/** By thresholdId: when a threshold that is met now was first seen met. */
export type FirstObserved = ReadonlyMap<string, bigint>;

/** Thresholds still met keep their time, new ones get `nowNs`, the others are forgotten (kubelet: thresholdsFirstObservedAt). */
export function thresholdsFirstObservedAt(thresholds: readonly Threshold[], last: FirstObserved, nowNs: bigint): FirstObserved {
  return new Map(thresholds.map((threshold) => [thresholdId(threshold), last.get(thresholdId(threshold)) ?? nowNs]));
}

/**
 * Forgets since when these are met, as far as they have a grace period: what nobody saw does not count for it. A time that is still to come, because the
 * clock jumped back, is forgotten of all: a hard threshold does not wait for it.
 */
export function withoutSoftGrace(observedAt: FirstObserved, thresholds: readonly Threshold[], nowNs: bigint): FirstObserved {
  const waiting = new Set(thresholds.filter(({ gracePeriodNs }) => gracePeriodNs > 0n).map(thresholdId));
  return new Map([...observedAt].filter(([id, atNs]) => !waiting.has(id) && atNs <= nowNs));
}

/** When a new reading last showed each threshold in an episode; those that were not read, or not anew, keep their time. */
export function thresholdsLastSeenAt(
  met: readonly Threshold[],
  updated: readonly Threshold[],
  last: ReadonlyMap<string, bigint>,
  nowNs: bigint,
): ReadonlyMap<string, bigint> {
  const seen = new Set(updated);
  return new Map(
    met.map((threshold) => [thresholdId(threshold), seen.has(threshold) ? nowNs : (last.get(thresholdId(threshold)) ?? nowNs)]),
  );
}

/** Those that have been met for their grace period; equal to it is enough (kubelet: thresholdsMetGracePeriod). */
export function thresholdsMetGracePeriod(thresholds: readonly Threshold[], observedAt: FirstObserved, nowNs: bigint): Threshold[] {
  return thresholds.filter((threshold) => nowNs >= graceEndNs(threshold, observedAt, nowNs));
}

/** When the threshold will have been met for its grace period. */
export function graceEndNs(threshold: Threshold, observedAt: FirstObserved, nowNs: bigint): bigint {
  return (observedAt.get(thresholdId(threshold)) ?? nowNs) + threshold.gracePeriodNs;
}

/**
 * Those whose observation is newer than that of the last step; nothing is decided twice on one reading (kubelet: thresholdsUpdatedStats). An
 * observation without a time counts as newer. Of joined operands one that is new is enough, but all must have been read.
 */
export function thresholdsUpdatedStats(thresholds: readonly Threshold[], observations: Observations, last: Observations): Threshold[] {
  const isNew = (signal: Signal): boolean => {
    const now = observations.observed.get(signal);
    const before = last.observed.get(signal);
    if (now === undefined) return false;
    return now.timeNs === undefined || before?.timeNs === undefined || now.timeNs > before.timeNs;
  };
  return thresholds.filter((threshold) => {
    const operands = operandsOf(threshold);
    return operands.some(({ signal }) => isNew(signal)) && operands.every(({ signal }) => observations.observed.has(signal));
  });
}
