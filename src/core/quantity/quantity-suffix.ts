import { QUANTITY_PROBLEMS, QuantityError, type ScannedQuantity } from './quantity-scan.js';

/** The kind of suffix, kept for printing. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

export interface QuantitySuffix {
  readonly format: QuantityFormat;
  /** The suffix is 10^decimalExponent × binaryFactor; one of the two is neutral. */
  readonly decimalExponent: number;
  readonly binaryFactor: bigint;
  /** The digits that Kubernetes' 64 bit fast path accepts with this suffix. They decide what prints as written. */
  readonly fastDigits: number;
}

/** Suffixes in steps of 10³, from n. */
export const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
/** Suffixes in steps of 2¹⁰, from one. */
export const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/** Kubernetes' maxInt64Factors. */
const DECIMAL_FAST_DIGITS = 18;

/**
 * More digits than any real amount. Kubernetes has no limit, and uses memory as the exponent asks (1e999999999: a
 * gigabyte).
 */
const LARGEST_EXPONENT = 4096;

const SUFFIXES: ReadonlyMap<string, QuantitySuffix> = new Map([
  ...DECIMAL_SUFFIXES.map((suffix, index): [string, QuantitySuffix] => [suffix, decimal('DecimalSI', 3 * index - 9)]),
  ...BINARY_SUFFIXES.slice(1).map((suffix, index): [string, QuantitySuffix] => [suffix, binary(index + 1)]),
]);

function decimal(format: QuantityFormat, decimalExponent: number): QuantitySuffix {
  return { format, decimalExponent, binaryFactor: 1n, fastDigits: DECIMAL_FAST_DIGITS };
}

/** Kubernetes counts three decimal digits, of fourteen, for each factor of 1024: Pi and Ei never take the fast path. */
function binary(steps: number): QuantitySuffix {
  return { format: 'BinarySI', decimalExponent: 0, binaryFactor: 1024n ** BigInt(steps), fastDigits: 14 - 3 * steps };
}

/**
 * `E` alone is exa; `E` or `e` with a number is a power of ten. Without digits the amount is zero, or an error if
 * Kubernetes' fast path does not take the suffix.
 *
 * @throws QuantityError for an unknown suffix, or an exponent that is no 64 bit integer or above 4096 (no limit in
 *   Kubernetes)
 */
export function parseSuffix(scanned: ScannedQuantity): QuantitySuffix {
  const suffix = SUFFIXES.get(scanned.suffix) ?? parseExponent(scanned);
  if (!scanned.hasDigits && (suffix.fastDigits < 1 || suffix.decimalExponent < -9)) throw new QuantityError(QUANTITY_PROBLEMS.numeric);
  return suffix;
}

function parseExponent({ suffix, whole, fraction }: ScannedQuantity): QuantitySuffix {
  if (!/^[eE][+-]?[0-9]+$/.test(suffix)) throw new QuantityError(QUANTITY_PROBLEMS.suffix);
  const written = BigInt(suffix[1] === '+' ? suffix.slice(2) : suffix.slice(1));
  if (BigInt.asIntN(64, written) !== written) throw new QuantityError(QUANTITY_PROBLEMS.suffix);
  const exponent = BigInt.asIntN(32, written); // Kubernetes keeps the low 32 bits: 1e4294967298 is 100
  const isZero = !/[1-9]/.test(whole + fraction);
  if (exponent > LARGEST_EXPONENT && !isZero) throw new QuantityError(QUANTITY_PROBLEMS.suffix);
  return decimal('DecimalExponent', Number(exponent));
}
