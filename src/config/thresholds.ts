import { parseDuration } from '../core/duration.js';
import { canonical, parseQuantity } from '../core/quantity.js';
import { isSignal, SIGNALS, type Signal } from '../core/signal.js';
import type { Threshold, ThresholdValue } from '../core/threshold.js';
import { parseFloat32 } from './float32.js';

/** What the kubelet knows and this version does not watch (kubelet: pkg/kubelet/eviction/api/types.go). */
const UNWATCHED_SIGNALS = [
  'allocatableMemory.available',
  'containerfs.available',
  'containerfs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
] as const;
export type KubeletSignal = Signal | (typeof UNWATCHED_SIGNALS)[number];

export const KUBELET_SIGNALS: readonly KubeletSignal[] = [...SIGNALS, ...UNWATCHED_SIGNALS];

/** A threshold of any signal that the kubelet knows. */
export type KubeletThreshold = Omit<Threshold, 'signal'> & { readonly signal: KubeletSignal };

/** The message is the kubelet's (v1.36, eviction/helpers.go). */
export class ThresholdError extends Error {
  override readonly name = 'ThresholdError';
}

export function isKubeletSignal(text: string): text is KubeletSignal {
  return isSignal(text) || (UNWATCHED_SIGNALS as readonly string[]).includes(text);
}

/** @throws ThresholdError  where the kubelet does not know the signal */
export function parseSignal(text: string): KubeletSignal {
  if (!isKubeletSignal(text)) throw new ThresholdError(`unsupported eviction signal ${text}`);
  return text;
}

/**
 * The value of a threshold; undefined: switched off by the exact text `0%` or `100%`. `0.0%` is kept and never met.
 *
 * Positive as a quantity, 0 to 100 % as a percentage, limits included (kubelet: parseThresholdStatement). As in the kubelet `NaN%` gets
 * through: the comparison with a limit is false either way.
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
  if (quantity.nano <= 0n) throw new ThresholdError(`eviction threshold ${signal} must be positive: ${canonical(quantity)}`);
  return { kind: 'quantity', quantity };
}

/**
 * What must come back beyond a threshold. Zero is fine as a quantity and an error as a percentage; more than 100 % is fine (kubelet:
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
 * How long a soft threshold must hold, in nanoseconds (kubelet: parseGracePeriods).
 *
 * @throws ThresholdError, DurationError
 */
export function parseGracePeriod(text: string): bigint {
  const gracePeriodNs = parseDuration(text);
  if (gracePeriodNs < 0n) throw new ThresholdError(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return gracePeriodNs;
}

export interface ThresholdMaps {
  readonly hard: ReadonlyMap<KubeletSignal, ThresholdValue>;
  readonly soft: ReadonlyMap<KubeletSignal, ThresholdValue>;
  readonly gracePeriodNs: ReadonlyMap<KubeletSignal, bigint>;
  readonly minReclaim: ReadonlyMap<KubeletSignal, ThresholdValue>;
}

/**
 * Puts the maps together (kubelet: ParseThresholdConfig): sorted by signal, hard before soft, grace period. A grace period or a minimum
 * reclaim without a threshold is no error.
 *
 * @param missing  called with a soft signal that has no grace period, and the kubelet's error
 */
export function combineThresholds(
  maps: ThresholdMaps,
  missing: (signal: KubeletSignal, error: ThresholdError) => void,
): KubeletThreshold[] {
  const minReclaim = (signal: KubeletSignal): ThresholdValue | undefined => maps.minReclaim.get(signal);
  const thresholds: KubeletThreshold[] = [];
  for (const [signal, value] of maps.hard) thresholds.push({ signal, value, gracePeriodNs: 0n, minReclaim: minReclaim(signal) });
  for (const [signal, value] of maps.soft) {
    const gracePeriodNs = maps.gracePeriodNs.get(signal);
    if (gracePeriodNs === undefined) {
      missing(signal, new ThresholdError(`grace period must be specified for the soft eviction threshold ${signal}`));
    } else {
      thresholds.push({ signal, value, gracePeriodNs, minReclaim: minReclaim(signal) });
    }
  }
  return thresholds.sort((a, b) => compare(a.signal, b.signal) || compare(a.gracePeriodNs, b.gracePeriodNs));
}

/** `10%` as the fraction 0.1, in 32 bit arithmetic; any number of `%` at the end (kubelet: parsePercentage). */
function parsePercentage(text: string): ThresholdValue & { kind: 'percentage' } {
  return { kind: 'percentage', fraction: Math.fround(parseFloat32(text.replace(/%+$/, '')) / 100), text };
}

function compare<T extends string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
