import { canonicalText } from './quantity-format.js';
import { scanQuantity, type ScannedQuantity } from './quantity-scan.js';
import { parseSuffix, type QuantityFormat, type QuantitySuffix } from './quantity-suffix.js';

export type { QuantityFormat } from './quantity-suffix.js';
export { formatBytes } from './quantity-format.js';
export { QuantityError } from './quantity-scan.js';

/** An amount as Kubernetes writes it (resource.Quantity, v1.36.2): `1Gi`, `1.5k`, `12e6`. Exact to a billionth. */
export interface Quantity {
  /** As it prints right after parsing: mostly the canonical form, as written where the parser takes it for canonical (`001Gi`). */
  readonly text: string;
  /** The exact value × 10⁹. Never rounded to 64 bits. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

const NANO = 1_000_000_000n;

/** What an amount with a binary suffix is capped at, either sign. Decimal ones are not capped. */
const BINARY_CAP_NANO = (2n ** 63n - 1n) * NANO;

/** 10⁰ … 10²⁷: everything between a nano and 999E. */
const POWERS_OF_TEN: readonly bigint[] = Array.from({ length: 28 }, (_, exponent) => 10n ** BigInt(exponent));

/**
 * Reads an amount exactly as Kubernetes v1.36.2 does (ParseQuantity), without trimming white space.
 *
 * What is smaller than a nano is rounded away from zero to the next nano. Binary amounts are capped at ±(2⁶³−1).
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
  // A part of one unit has no binary form.
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
  // Less than a nano whatever the digits: 1e-2000000000 must not build a divisor of that length.
  if (-shift > scanned.whole.length + scanned.fraction.length + 20) return 1n;
  return divideAwayFromZero(scaled, powerOfTen(-shift));
}

/**
 * Whether Kubernetes keeps the written text instead of the canonical form. It does where the amount fits its 64 bit fast path and the
 * digits look canonical; signs, leading zeros and a trailing point do not count, which is why `+1Gi` and `1.234k` print unchanged.
 */
function printsAsWritten({ whole, fraction }: ScannedQuantity, suffix: QuantitySuffix): boolean {
  if (whole === '') return false;
  if (suffix.format === 'BinarySI') {
    return fraction === '' && whole.length <= suffix.fastDigits && (lastDigits(whole) & 7) !== 0;
  }
  const scale = suffix.decimalExponent - fraction.length;
  return whole.length + fraction.length <= suffix.fastDigits && scale >= -9 && scale % 3 === 0 && !(whole + fraction).endsWith('000');
}

/** Enough of the number to know its remainder by 8: 1000 is a multiple of 8. */
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
 * Whole units, rounded away from zero.
 *
 * Beyond 64 bits the exact value is returned, where Kubernetes' Value() wraps or saturates: who needs an int64 must check. Negative
 * amounts follow the documentation of Value(); the kubelet's own result is wrong for some of them.
 */
export function quantityValue(quantity: Quantity): bigint {
  return divideAwayFromZero(quantity.nano, NANO);
}

/** Order by amount, whatever the writing: negative, 0 or positive, for sort. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  if (a.nano === b.nano) return 0;
  return a.nano < b.nano ? -1 : 1;
}
