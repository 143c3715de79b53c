import { canonicalText } from './quantity-format.js';
import { scanQuantity, type ScannedQuantity } from './quantity-scan.js';
import { parseSuffix, type QuantityFormat, type QuantitySuffix } from './quantity-suffix.js';
import { NANO } from './integer.js';

export type { QuantityFormat } from './quantity-suffix.js';
export { formatBytes } from './quantity-format.js';
export { QuantityError } from './quantity-scan.js';

/** An amount as in Kubernetes (resource.Quantity, v1.36.2): `1Gi`, `1.5k`, `12e6`. Exact to a billionth. */
export interface Quantity {
  /** The canonical form, or the text as written where Kubernetes keeps it (`001Gi`). */
  readonly text: string;
  /** The exact value × 10⁹, not limited to 64 bits. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** Kubernetes caps binary amounts at this, in both signs, but not decimal ones. */
const BINARY_CAP_NANO = (2n ** 63n - 1n) * NANO;

/** 10⁰ … 10²⁷: everything between a nano and 999E. */
const POWERS_OF_TEN: readonly bigint[] = Array.from({ length: 28 }, (_, exponent) => 10n ** BigInt(exponent));

/**
 * Reads an amount as Kubernetes v1.36.2 does (ParseQuantity), without trimming white space. Amounts below a nano round
 * away from zero. Binary amounts are capped at ±(2⁶³−1).
 *
 * @throws QuantityError with Kubernetes' message
 */
export function parseQuantity(text: string): Quantity {
  const scanned = scanQuantity(text);
  const suffix = parseSuffix(scanned);
  const { format } = suffix;
  let nano = exactNano(scanned, suffix);
  if (format === 'BinarySI' && nano > BINARY_CAP_NANO) nano = BINARY_CAP_NANO;
  if (scanned.negative) nano = -nano;
  if (printsAsWritten(scanned, suffix)) return { text, nano, format };
  // A fraction of a unit has no binary form.
  const shown = format === 'BinarySI' && nano !== 0n && nano > -NANO && nano < NANO ? 'DecimalSI' : format;
  return { text: canonicalText(nano, shown), nano, format: shown };
}

/** The magnitude × 10⁹, rounded up. */
function exactNano(scanned: ScannedQuantity, suffix: QuantitySuffix): bigint {
  const digits = BigInt(scanned.whole + scanned.fraction);
  if (digits === 0n) return 0n;
  const scaled = suffix.binaryFactor === 1n ? digits : digits * suffix.binaryFactor;
  const shift = suffix.decimalExponent + 9 - scanned.fraction.length;
  if (shift >= 0) return scaled * powerOfTen(shift);
  // Below a nano whatever the digits. 1e-2000000000 must not build a divisor of that length.
  if (-shift > scanned.whole.length + scanned.fraction.length + 20) return 1n;
  return divideAwayFromZero(scaled, powerOfTen(-shift));
}

/**
 * Reports whether Kubernetes keeps the text as written. It does if the amount fits its 64 bit fast path and the digits
 * look canonical. Signs, leading zeros and a trailing point do not count, so `+1Gi` and `1.234k` print unchanged.
 */
function printsAsWritten({ whole, fraction }: ScannedQuantity, suffix: QuantitySuffix): boolean {
  if (whole === '') return false;
  if (suffix.format === 'BinarySI') {
    return fraction === '' && whole.length <= suffix.fastDigits && (lastDigits(whole) & 7) !== 0;
  }
  const scale = suffix.decimalExponent - fraction.length;
  return whole.length + fraction.length <= suffix.fastDigits && scale >= -9 && scale % 3 === 0 && !(whole + fraction).endsWith('000');
}

/** Enough digits for the remainder by 8: 1000 is a multiple of 8. */
function lastDigits(whole: string): number {
  return Number(whole.slice(-3));
}

function powerOfTen(exponent: number): bigint {
  return POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent);
}

function divideAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

/**
 * Whole units, rounded away from zero. Exact beyond 64 bits, where Kubernetes' Value() wraps or saturates. Negative
 * amounts follow the documentation of Value(); the kubelet's result is wrong for some.
 */
export function quantityValue(quantity: Quantity): bigint {
  return divideAwayFromZero(quantity.nano, NANO);
}

/** Compares amounts; for sort. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  if (a.nano === b.nano) return 0;
  return a.nano < b.nano ? -1 : 1;
}
