import { parseDuration } from '../../core/quantity/duration.js';
import { parseQuantity } from '../../core/quantity/quantity.js';
import { isKubeletSignal, type AmountSignal, type KubeletSignal } from '../../core/signal/signal.js';
import { thresholdKind, type Threshold, type ThresholdValue } from '../../core/threshold/threshold.js';
import { parseFloat32 } from '../value/float32.js';

/** The message is the kubelet's (v1.36, eviction/helpers.go). */
export class ThresholdError extends Error {
  override readonly name = 'ThresholdError';
}

/** @throws ThresholdError  the kubelet has no such signal */
export function parseSignal(text: string): KubeletSignal {
  if (!isKubeletSignal(text)) throw new ThresholdError(`unsupported eviction signal ${text}`);
  return text;
}

/**
 * The value of a threshold; undefined: disabled by the exact text `0%` or `100%`. `0.0%` is kept and never met.
 *
 * A quantity must be positive, a percentage 0 to 100 inclusive (kubelet: parseThresholdStatement). `NaN%` passes, as in
 * the kubelet.
 *
 * @throws ThresholdError, QuantityError, FloatError
 */
export function parseThresholdValue(signal: string, text: string): ThresholdValue | undefined {
  if (text === '0%' || text === '100%') return undefined;
  if (text.endsWith('%')) {
    const value = parsePercentage(text);
    if (value.fraction < 0) throw new ThresholdError(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
    if (value.fraction > 1) throw new ThresholdError(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
    return value;
  }
  const quantity = parseQuantity(text);
  if (quantity.nano <= 0n) throw new ThresholdError(`eviction threshold ${signal} must be positive: ${quantity.text}`);
  return { kind: 'quantity', quantity };
}

/**
 * A minimum reclaim. A quantity may be zero, a percentage may not; more than 100 % is accepted (kubelet:
 * parseMinimumReclaims).
 *
 * @throws ThresholdError, QuantityError, FloatError
 */
export function parseMinimumReclaim(signal: string, text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const value = parsePercentage(text);
    if (value.fraction <= 0) throw new ThresholdError(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
    return value;
  }
  const quantity = parseQuantity(text);
  if (quantity.nano < 0n) throw new ThresholdError(`negative eviction minimum reclaim specified for ${signal}`);
  return { kind: 'quantity', quantity };
}

/**
 * The grace period of a soft threshold in nanoseconds (kubelet: parseGracePeriods).
 *
 * @throws ThresholdError, DurationError
 */
export function parseGracePeriod(text: string): bigint {
  const gracePeriodNs = parseDuration(text);
  if (gracePeriodNs < 0n) throw new ThresholdError(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return gracePeriodNs;
}

/**
 * The parser of an entry of each map: its value, or undefined if the entry disables the threshold. Throws the kubelet's
 * error.
 */
export const PARSE_ENTRY = {
  evictionHard: parseThresholdValue,
  evictionSoft: parseThresholdValue,
  evictionSoftGracePeriod: (_signal: string, text: string): bigint => parseGracePeriod(text),
  evictionMinimumReclaim: parseMinimumReclaim,
} as const satisfies Record<string, (signal: string, text: string) => ThresholdValue | bigint | undefined>;
export type ThresholdMapKey = keyof typeof PARSE_ENTRY;

/** Whether hard memory thresholds also hold for allocatableMemory.available. */
export function enforcesPods(enforceNodeAllocatable: readonly string[]): boolean {
  return enforceNodeAllocatable.includes('pods');
}

export interface ThresholdMaps {
  readonly hard: ReadonlyMap<AmountSignal, ThresholdValue>;
  readonly soft: ReadonlyMap<AmountSignal, ThresholdValue>;
  readonly gracePeriodNs: ReadonlyMap<AmountSignal, bigint>;
  readonly minReclaim: ReadonlyMap<AmountSignal, ThresholdValue>;
}

/**
 * Combines the maps, sorted by signal and grace period. A grace period or a minimum reclaim without a threshold is
 * ignored.
 *
 * @param enforceAllocatable  copies hard memory.available to allocatableMemory.available, with its minimum reclaim
 * @param missing  called with a soft signal without a grace period, and the kubelet's error
 */
export function combineThresholds(
  maps: ThresholdMaps,
  enforceAllocatable: boolean,
  missing: (signal: AmountSignal, error: ThresholdError) => void,
): Threshold[] {
  const minReclaim = (signal: AmountSignal): ThresholdValue | undefined => maps.minReclaim.get(signal);
  const thresholds: Threshold[] = [];
  for (const [signal, value] of maps.hard) thresholds.push({ signal, value, gracePeriodNs: 0n, minReclaim: minReclaim(signal) });
  for (const [signal, value] of maps.soft) {
    const gracePeriodNs = maps.gracePeriodNs.get(signal);
    if (gracePeriodNs === undefined) {
      missing(signal, new ThresholdError(`grace period must be specified for the soft eviction threshold ${signal}`));
    } else {
      thresholds.push({ signal, value, gracePeriodNs, minReclaim: minReclaim(signal) });
    }
  }
  return [...thresholds, ...(enforceAllocatable ? allocatableThresholds(thresholds) : [])].sort(
    (a, b) => compare(a.signal, b.signal) || compare(a.gracePeriodNs, b.gracePeriodNs),
  );
}

/** A soft threshold with a grace period of 0 counts as hard (kubelet: addAllocatableThresholds). */
function allocatableThresholds(thresholds: readonly Threshold[]): Threshold[] {
  return thresholds
    .filter((threshold) => threshold.signal === 'memory.available' && thresholdKind(threshold) === 'hard')
    .map((threshold) => ({ ...threshold, signal: 'allocatableMemory.available' }));
}

/** `10%` as the fraction 0.1 in 32 bit arithmetic; any number of trailing `%` (kubelet: parsePercentage). */
function parsePercentage(text: string): ThresholdValue & { kind: 'percentage' } {
  return { kind: 'percentage', fraction: Math.fround(parseFloat32(text.replace(/%+$/, '')) / 100), text };
}

function compare<T extends string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
