import { canonicalText } from '../../../src/core/quantity/quantity-format.js';
import type { Quantity } from '../../../src/core/quantity/quantity.js';

const NANO_PER_MILLI = 1_000_000n;

/** Thousandths, rounded away from zero; beyond 64 bits the exact value. */
export function quantityMilli({ nano }: Quantity): bigint {
  const away = NANO_PER_MILLI - 1n;
  return (nano < 0n ? nano - away : nano + away) / NANO_PER_MILLI;
}

/**
 * The form that every writing of the same amount shares: no fraction, largest suffix that fits. `1.5Gi` is `1536Mi`.
 */
export function canonical({ nano, format }: Quantity): string {
  return canonicalText(nano, format);
}
