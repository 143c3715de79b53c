import { BINARY_SUFFIXES, DECIMAL_SUFFIXES, type QuantityFormat } from './quantity-suffix.js';

const NANO = 1_000_000_000n;

/**
 * An amount in canonical form (Kubernetes v1.36.2, CanonicalizeBytes): no fraction, and the largest suffix that loses nothing.
 *
 * A binary amount below 1024, or one that is no whole number, prints in decimal form: 1000 bytes are `1k`.
 *
 * @param nano  the amount × 10⁹
 */
export function canonicalText(nano: bigint, format: QuantityFormat): string {
  if (nano === 0n) return '0';
  switch (format) {
    case 'BinarySI': {
      const isLarge = nano >= 1024n * NANO || nano <= -1024n * NANO;
      return isLarge && nano % NANO === 0n ? binaryText(nano / NANO) : decimalSiText(nano);
    }
    case 'DecimalSI':
      return decimalSiText(nano);
    case 'DecimalExponent':
      return decimalExponentText(nano);
  }
}

/**
 * A number of bytes as the kubelet prints it in messages: `1Gi`, `858993472`, and `1k` for 1000. Inodes and processes, too, where a
 * percentage was resolved: `4Ki`.
 */
export function formatBytes(bytes: bigint): string {
  return canonicalText(bytes * NANO, 'BinarySI');
}

function binaryText(units: bigint): string {
  const [amount, steps] = withoutFactors(units, 1024n);
  return `${String(amount)}${BINARY_SUFFIXES[steps] ?? ''}`;
}

/** Beyond E Kubernetes v1.36.2 loses the suffix: 1000E prints as `1` (kubernetes/kubernetes#140459). Messages are to read the same. */
function decimalSiText(nano: bigint): string {
  const [amount, steps] = withoutFactors(nano, 1000n);
  return `${String(amount)}${DECIMAL_SUFFIXES[steps] ?? ''}`;
}

function decimalExponentText(nano: bigint): string {
  const [amount, steps] = withoutFactors(nano, 1000n);
  const exponent = 3 * steps - 9;
  return exponent === 0 ? String(amount) : `${String(amount)}e${exponent}`;
}

/** `amount` (not zero) without its factors `factor`, and how many there were. */
function withoutFactors(amount: bigint, factor: bigint): [rest: bigint, times: number] {
  let rest = amount;
  let times = 0;
  for (; rest % factor === 0n; times++) rest /= factor;
  return [rest, times];
}
