import type { Observations } from '../signal/observation.js';
import type { Signal } from '../signal/signal.js';
import { operandsOf, thresholdId, type Threshold } from './threshold.js';

/** The time since which a threshold is met, by threshold id. */
export type FirstObserved = ReadonlyMap<string, bigint>;

/** A threshold that is still met keeps its time, a new one gets `nowNs` (kubelet: thresholdsFirstObservedAt). */
export function thresholdsFirstObservedAt(thresholds: readonly Threshold[], last: FirstObserved, nowNs: bigint): FirstObserved {
  return new Map(thresholds.map((threshold) => [thresholdId(threshold), last.get(thresholdId(threshold)) ?? nowNs]));
}

/**
 * Restarts the grace period of these thresholds. A time in the future (the clock jumped back) is dropped for every
 * threshold, so that a hard one does not wait for it.
 */
export function withoutSoftGrace(observedAt: FirstObserved, thresholds: readonly Threshold[], nowNs: bigint): FirstObserved {
  const waiting = new Set(thresholds.filter(({ gracePeriodNs }) => gracePeriodNs > 0n).map(thresholdId));
  return new Map([...observedAt].filter(([id, atNs]) => !waiting.has(id) && atNs <= nowNs));
}

/** The time of the last new reading, by threshold id. */
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

/** Equal to the grace period is enough (kubelet: thresholdsMetGracePeriod). */
export function thresholdsMetGracePeriod(thresholds: readonly Threshold[], observedAt: FirstObserved, nowNs: bigint): Threshold[] {
  return thresholds.filter((threshold) => nowNs >= graceEndNs(threshold, observedAt, nowNs));
}

export function graceEndNs(threshold: Threshold, observedAt: FirstObserved, nowNs: bigint): bigint {
  return (observedAt.get(thresholdId(threshold)) ?? nowNs) + threshold.gracePeriodNs;
}

/**
 * Thresholds with a newer observation than in the last step, so that nothing is decided twice on one reading (kubelet:
 * thresholdsUpdatedStats). An observation without a time counts as newer. Of joined operands all must be read, and one
 * must be new.
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
