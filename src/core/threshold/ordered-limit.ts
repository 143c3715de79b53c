import { isResourceThreshold, limitOf, thresholdKind, type ResourceThreshold, type Threshold } from './threshold.js';

/** The threshold that a standing order is for, and below how many bytes it is met. */
export interface OrderedLimit {
  readonly threshold: ResourceThreshold;
  readonly limit: bigint;
}

/** Hard, of memory.available alone, without a grace period; the highest of them. undefined: there is none. */
export function orderedLimit(thresholds: readonly Threshold[], capacity: bigint): OrderedLimit | undefined {
  const found = orderedThresholds(thresholds).map((threshold) => ({ threshold, limit: limitOf(threshold, capacity, false) }));
  return found.reduce<OrderedLimit | undefined>((most, one) => (most === undefined || one.limit > most.limit ? one : most), undefined);
}

/** The thresholds that a standing order may be for. */
export function orderedThresholds(thresholds: readonly Threshold[]): readonly ResourceThreshold[] {
  return thresholds
    .filter(isResourceThreshold)
    .filter((threshold) => threshold.signal === 'memory.available' && threshold.also === undefined && isImmediate(threshold));
}

function isImmediate(threshold: ResourceThreshold): boolean {
  return thresholdKind(threshold) === 'hard' && threshold.gracePeriodNs === 0n;
}
