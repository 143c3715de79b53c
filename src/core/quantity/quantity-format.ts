import { BINARY_SUFFIXES, DECIMAL_SUFFIXES, type QuantityFormat } from './quantity-suffix.js';
import { NANO } from './integer.js';

/**
 * The canonical form (Kubernetes v1.36.2, CanonicalizeBytes): no fraction, and the largest suffix that loses nothing. A
 * binary amount that is below 1024 or not whole prints in decimal form: 1000 bytes are `1k`.
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
 * Bytes as in the kubelet's messages: `1Gi`, `858993472`, and `1k` for 1000. Also resolved percentages of inodes and
 * processes: `4Ki`.
 */
export function formatBytes(bytes: bigint): string {
  return canonicalText(bytes * NANO, 'BinarySI');
}

function binaryText(units: bigint): string {
  const [amount, steps] = withoutFactors(units, 1024n);
  return `${String(amount)}${BINARY_SUFFIXES[steps] ?? ''}`;
}

/**
 * Kubernetes v1.36.2 loses the suffix beyond E: 1000E prints as `1` (kubernetes/kubernetes#140459). evictd's messages
 * do the same.
 */
function decimalSiText(nano: bigint): string {
  const [amount, steps] = withoutFactors(nano, 1000n);
  return `${String(amount)}${DECIMAL_SUFFIXES[steps] ?? ''}`;
}

function decimalExponentText(nano: bigint): string {
  const [amount, steps] = withoutFactors(nano, 1000n);
  const exponent = 3 * steps - 9;
  return exponent === 0 ? String(amount) : `${String(amount)}e${exponent}`;
}

/** `amount` (not zero) without its factors `factor`, and their number. */
function withoutFactors(amount: bigint, factor: bigint): [rest: bigint, times: number] {
  let rest = amount;
  let times = 0;
  for (; rest % factor === 0n; times++) rest /= factor;
  return [rest, times];
}
