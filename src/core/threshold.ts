import { quantityValue, type Quantity } from './quantity.js';
import type { Observation, Observations } from './observation.js';
import { isResourceSignal, operatorOf, SIGNALS, type ResourceSignal, type Signal } from './signal.js';

/** `fraction`: the text's number as a 32 bit float, divided by 100 as a 32 bit float, as the kubelet reads it (0.1 for 10%). */
export type ThresholdValue =
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'percentage'; readonly fraction: number; readonly text: string };

/** Operator `<`: met when less than `value` is available; `>` for pressure: when more of the time than `value` is lost. */
export interface Operand {
  readonly signal: Signal;
  readonly value: ThresholdValue;
}

/** A grace period of zero makes it hard, as in the kubelet, unless `kind` says otherwise. `signal` is what is starved, where any operand names that. */
export interface Threshold extends Operand {
  readonly gracePeriodNs: bigint;
  /** What must come back beyond the threshold, once breached, before it counts as cleared. */
  readonly minReclaim: ThresholdValue | undefined;
  /** Joined thresholds: what must be met, too. */
  readonly also?: readonly Operand[];
  /** Only of an entry of the list `thresholds`. */
  readonly kind?: ThresholdKind;
}

/** One that somebody may be evicted for. The others (io, cpu, swap alone) alert. */
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

/** It comes from the list `thresholds`, and not from a map by signal. */
export function isListed({ kind }: Threshold): boolean {
  return kind !== undefined;
}

/** The starved one first. */
export function operandsOf(threshold: Threshold): readonly Operand[] {
  return threshold.also === undefined ? [threshold] : [threshold, ...threshold.also];
}

/** 'memory.available<10% & memory.pressure.full>40%'. */
export function whenText(threshold: Threshold): string {
  return operandsOf(threshold).map(operandText).join(' & ');
}

export function operandText({ signal, value }: Operand): string {
  return `${signal}${operatorOf(signal)}${valueText(value)}`;
}

/** A name that tells the thresholds of one configuration apart. */
export function thresholdId(threshold: Threshold): string {
  const { gracePeriodNs, minReclaim, kind } = threshold;
  const own = kind === undefined ? '' : ` ${kind}`;
  return `${whenText(threshold)}/${String(gracePeriodNs)}${minReclaim ? `+${valueText(minReclaim)}` : ''}${own}`;
}

export function valueText(value: ThresholdValue): string {
  return value.kind === 'quantity' ? value.quantity.text : value.text;
}

/** What Go's conversion of a float to an int64 gives on amd64 for NaN, infinity and everything that does not fit. */
const NOT_AN_INT64 = -(2n ** 63n);
const NANO = 1_000_000_000n;

/** A percentage is a 32 bit float times the capacity as a 64 bit float, cut off (kubelet: eviction/api, GetThresholdQuantity): 10% of 8Gi is 858993472. */
function share(capacity: bigint, fraction: number): bigint {
  const amount = Math.trunc(Number(capacity) * fraction);
  return amount >= -(2 ** 63) && amount < 2 ** 63 ? BigInt(amount) : NOT_AN_INT64;
}

/** The value in bytes, inodes or processes; a part of one counts as one. */
export function resolve(value: ThresholdValue, capacity: bigint): bigint {
  return value.kind === 'quantity' ? quantityValue(value.quantity) : share(capacity, value.fraction);
}

/** The exact value × 10⁹: two halves of a byte are one byte. */
function resolveNano(value: ThresholdValue, capacity: bigint): bigint {
  return value.kind === 'quantity' ? value.quantity.nano : share(capacity, value.fraction) * NANO;
}

/** Below which amount the threshold is met, in units of the signal; with the min reclaim where it is owed. */
export function limitOf(threshold: Pick<Threshold, 'value' | 'minReclaim'>, capacity: bigint, owed: boolean): bigint {
  const { value, minReclaim } = threshold;
  if (!owed || minReclaim === undefined) return resolve(value, capacity);
  const nano = resolveNano(value, capacity) + resolveNano(minReclaim, capacity);
  return nano / NANO + (nano % NANO > 0n ? 1n : 0n);
}

/**
 * Whether less than the threshold is available.
 *
 * Strictly below: availability equal to the limit does not trigger (kubelet: eviction/helpers.go, thresholdsMet).
 *
 * @param owed  add the min reclaim to the limit: true while an earlier breach is still being paid back
 */
export function thresholdMet(threshold: Threshold, observed: Observation, owed: boolean): boolean {
  const limit = limitOf(threshold, observed.capacity, owed);
  return operatorOf(threshold.signal) === '>' ? observed.available > limit : observed.available < limit;
}

/** One operand on its own, without any min reclaim. */
export function operandMet({ signal, value }: Operand, { available, capacity }: Observation): boolean {
  const limit = resolve(value, capacity);
  return operatorOf(signal) === '>' ? available > limit : available < limit;
}

/** Whether all operands are met; undefined: one could not be read, and none of the others is known not to be. */
export function allMet(threshold: Threshold, { observed }: Observations, owed: boolean): boolean | undefined {
  const own = observed.get(threshold.signal);
  let met = own === undefined ? undefined : thresholdMet(threshold, own, owed);
  for (const operand of threshold.also ?? []) {
    if (met === false) return false;
    const other = observed.get(operand.signal);
    if (other === undefined) met = undefined;
    else if (!operandMet(operand, other)) return false;
  }
  return met;
}

/** The thresholds that are met; one without an observation is not (kubelet: thresholdsMet). */
export function thresholdsMet(thresholds: readonly Threshold[], observations: Observations, enforceMinReclaim: boolean): Threshold[] {
  return thresholds.filter((threshold) => allMet(threshold, observations, enforceMinReclaim) === true);
}

/** Thresholds of both lists, each once (kubelet: mergeThresholds). */
export function mergeThresholds(a: readonly Threshold[], b: readonly Threshold[]): Threshold[] {
  return [...a, ...b.filter((threshold) => !a.some((other) => thresholdId(other) === thresholdId(threshold)))];
}

/**
 * Memory first (kubelet: byEvictionPriority, which knows no other order), then as the signals are listed, hard before soft: total, so that the same
 * input gives the same choice.
 */
export function byEvictionPriority(a: Threshold, b: Threshold): number {
  const rank = (threshold: Threshold): number => 2 * SIGNALS.indexOf(threshold.signal) + (thresholdKind(threshold) === 'hard' ? 0 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return thresholdId(a) < thresholdId(b) ? -1 : 1;
}
