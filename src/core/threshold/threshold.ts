import { quantityValue, type Quantity } from '../quantity/quantity.js';
import type { Observation, Observations } from '../signal/observation.js';
import { isPressure, isResourceSignal, operatorOf, SIGNALS, type ResourceSignal, type Signal } from '../signal/signal.js';
import { NANO } from '../quantity/integer.js';

/** `fraction`: the number as a 32 bit float, divided by 100 as a 32 bit float, as in the kubelet (0.1 for 10%). */
export type ThresholdValue =
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'percentage'; readonly fraction: number; readonly text: string };

/**
 * Operator `<`: met when less than `value` is available; `>` (pressure): when more than `value` of the time is lost.
 */
export interface Operand {
  readonly signal: Signal;
  readonly value: ThresholdValue;
}

/**
 * Hard without a grace period, as in the kubelet, unless `kind` says otherwise. `signal` is the starved operand if
 * there is one.
 */
export interface Threshold extends Operand {
  readonly gracePeriodNs: bigint;
  /** Once met, the threshold clears only this far beyond its value. */
  readonly minReclaim: ThresholdValue | undefined;
  /** Joined operands: all must be met. */
  readonly also?: readonly Operand[];
  /** Set only in entries of the list `thresholds`. */
  readonly kind?: ThresholdKind;
}

/** A threshold that can evict. The others (io, cpu, swap alone) only alert. */
export interface ResourceThreshold extends Threshold {
  readonly signal: ResourceSignal;
}

export function isResourceThreshold(threshold: Threshold): threshold is ResourceThreshold {
  return isResourceSignal(threshold.signal);
}

export type ThresholdKind = 'hard' | 'soft';

export function thresholdKind({ kind, gracePeriodNs }: Threshold): ThresholdKind {
  return kind ?? (gracePeriodNs === 0n ? 'hard' : 'soft');
}

/** Whether the threshold is from the list `thresholds`, not from a map by signal. */
export function isListed({ kind }: Threshold): boolean {
  return kind !== undefined;
}

/** The starved operand first. */
export function operandsOf(threshold: Threshold): readonly Operand[] {
  return threshold.also === undefined ? [threshold] : [threshold, ...threshold.also];
}

/**
 * Swap or pressure is an operand: then a workload that is mostly swapped out is part of the shortage, although it holds
 * little memory.
 */
export function countsSwap(threshold: Threshold): boolean {
  return operandsOf(threshold).some(({ signal }) => signal === 'swap.available' || isPressure(signal));
}

/** 'memory.available<10% & memory.pressure.full>40%'. */
export function whenText(threshold: Threshold): string {
  return operandsOf(threshold).map(operandText).join(' & ');
}

export function operandText({ signal, value }: Operand): string {
  return `${signal}${operatorOf(signal)}${valueText(value)}`;
}

/** Unique in a configuration. */
export function thresholdId(threshold: Threshold): string {
  const { gracePeriodNs, minReclaim, kind } = threshold;
  const own = kind === undefined ? '' : ` ${kind}`;
  return `${whenText(threshold)}/${String(gracePeriodNs)}${minReclaim ? `+${valueText(minReclaim)}` : ''}${own}`;
}

export function valueText(value: ThresholdValue): string {
  return value.kind === 'quantity' ? value.quantity.text : value.text;
}

/** Go's conversion of a float to int64 on amd64, for NaN, infinity and overflow. */
const NOT_AN_INT64 = -(2n ** 63n);

/**
 * A 32 bit float times the capacity as a 64 bit float, rounded down (kubelet: eviction/api, GetThresholdQuantity): 10%
 * of 8Gi is 858993472.
 */
function share(capacity: bigint, fraction: number): bigint {
  const amount = Math.trunc(Number(capacity) * fraction);
  return amount >= -(2 ** 63) && amount < 2 ** 63 ? BigInt(amount) : NOT_AN_INT64;
}

/** The value in bytes, inodes or processes, rounded up. */
export function resolve(value: ThresholdValue, capacity: bigint): bigint {
  return value.kind === 'quantity' ? quantityValue(value.quantity) : share(capacity, value.fraction);
}

/** × 10⁹, exact: two halves of a byte are one byte. */
function resolveNano(value: ThresholdValue, capacity: bigint): bigint {
  return value.kind === 'quantity' ? value.quantity.nano : share(capacity, value.fraction) * NANO;
}

/** The value that `available` is compared with, in units of the signal, with the min reclaim if it is owed. */
export function limitOf(threshold: Pick<Threshold, 'value' | 'minReclaim'>, capacity: bigint, minReclaimOwed: boolean): bigint {
  const { value, minReclaim } = threshold;
  if (!minReclaimOwed || minReclaim === undefined) return resolve(value, capacity);
  const nano = resolveNano(value, capacity) + resolveNano(minReclaim, capacity);
  return nano / NANO + (nano % NANO > 0n ? 1n : 0n);
}

/**
 * Reports whether the threshold is met. Strictly: an amount equal to the limit does not trigger (kubelet:
 * eviction/helpers.go, thresholdsMet).
 *
 * @param minReclaimOwed  adds the min reclaim to the limit: an earlier breach is not repaid yet
 */
export function thresholdMet(threshold: Threshold, observed: Observation, minReclaimOwed: boolean): boolean {
  const limit = limitOf(threshold, observed.capacity, minReclaimOwed);
  return operatorOf(threshold.signal) === '>' ? observed.available > limit : observed.available < limit;
}

/** One operand, without min reclaim. */
export function operandMet({ signal, value }: Operand, { available, capacity }: Observation): boolean {
  const limit = resolve(value, capacity);
  return operatorOf(signal) === '>' ? available > limit : available < limit;
}

/** undefined: an operand could not be read, and no other operand is known not to be met. */
export function allMet(threshold: Threshold, { observed }: Observations, minReclaimOwed: boolean): boolean | undefined {
  const own = observed.get(threshold.signal);
  let met = own === undefined ? undefined : thresholdMet(threshold, own, minReclaimOwed);
  for (const operand of threshold.also ?? []) {
    if (met === false) return false;
    const other = observed.get(operand.signal);
    if (other === undefined) met = undefined;
    else if (!operandMet(operand, other)) return false;
  }
  return met;
}

/** A threshold without an observation is not met (kubelet: thresholdsMet). */
export function thresholdsMet(thresholds: readonly Threshold[], observations: Observations, enforceMinReclaim: boolean): Threshold[] {
  return thresholds.filter((threshold) => allMet(threshold, observations, enforceMinReclaim) === true);
}

/** Each once (kubelet: mergeThresholds). */
export function mergeThresholds(a: readonly Threshold[], b: readonly Threshold[]): Threshold[] {
  return [...a, ...b.filter((threshold) => !a.some((other) => thresholdId(other) === thresholdId(threshold)))];
}

/**
 * Memory first (kubelet: byEvictionPriority, which has no other rule), then in the order of the signals, hard before
 * soft. Total, so that the same input gives the same decision.
 */
export function byEvictionPriority(a: Threshold, b: Threshold): number {
  const rank = (threshold: Threshold): number => 2 * SIGNALS.indexOf(threshold.signal) + (thresholdKind(threshold) === 'hard' ? 0 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return thresholdId(a) < thresholdId(b) ? -1 : 1;
}
