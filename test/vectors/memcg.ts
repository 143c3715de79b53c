import { isSignal } from '../../src/core/signal/signal.js';
import { parseThresholdValue } from '../../src/config/resolve/thresholds.js';
import { DocumentError } from '../../src/errors.js';
import { summaryUsageThreshold } from './kubelet/usage-threshold.js';
import { isObject, type JsonObject } from './json.js';
import { compareKeys, VectorFormatError, type Check } from './vector.js';

/** Of an error the expectation has the beginning only. */
export const checkMemcg: Check = ({ line }) => {
  const { signal, threshold, summary, expect } = line;
  if (typeof signal !== 'string' || !isSignal(signal)) throw new VectorFormatError('"signal" must be one of eviction');
  if (typeof threshold !== 'string') throw new VectorFormatError('"threshold" must be a text');
  if (!isObject(summary) || !isObject(expect)) throw new VectorFormatError('"summary" and "expect" must be objects');
  const value = parseThresholdValue(signal, threshold);
  if (value === undefined) throw new VectorFormatError('"threshold" must not be switched off');

  const got = computed(() => summaryUsageThreshold(summary, signal, value));
  const { error } = expect;
  const sameError = typeof error === 'string' && error !== '' && typeof got.error === 'string' && got.error.startsWith(error);
  return compareKeys(expect, sameError ? { ...got, error } : got);
};

function computed(usageThreshold: () => bigint): JsonObject {
  try {
    return { ok: true, usageThreshold: String(usageThreshold()) };
  } catch (error) {
    if (error instanceof DocumentError) return { ok: false, error: error.message };
    throw error;
  }
}
