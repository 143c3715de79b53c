import { parseQuantity, QuantityError, quantityValue } from '../../src/core/quantity/quantity.js';
import { canonical, quantityMilli } from './kubelet/quantity-forms.js';
import type { JsonObject } from './json.js';
import { textInput } from './text-input.js';
import { compareKeys, type Check } from './vector.js';

/** Not to be tested: there the measured rounding of a negative amount contradicts its documentation (README.md). */
const NOT_TESTED = {
  value: ['value', 'valueOverflows', 'valueObserved', 'valueDocumented'],
  milli: ['milli', 'milliObserved', 'milliDocumented'],
};

export const checkQuantity: Check = (vector) => {
  const { input, expect } = textInput(vector);
  const ignored = [...('valueObserved' in expect ? NOT_TESTED.value : []), ...('milliObserved' in expect ? NOT_TESTED.milli : [])];
  return compareKeys(expect, parsed(input), ignored);
};

function parsed(input: string): JsonObject {
  try {
    const quantity = parseQuantity(input);
    const value = quantityValue(quantity);
    const milli = quantityMilli(quantity);
    return {
      ok: true,
      string: quantity.text,
      canonical: canonical(quantity),
      format: quantity.format,
      sign: quantity.nano === 0n ? 0 : quantity.nano < 0n ? -1 : 1,
      nano: String(quantity.nano),
      ...(fitsInt64(value) ? { value: String(value) } : { valueOverflows: true }),
      ...(fitsInt64(milli) ? { milli: String(milli) } : {}),
    };
  } catch (error) {
    if (error instanceof QuantityError) return { ok: false, error: error.message };
    throw error;
  }
}

function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
