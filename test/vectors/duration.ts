import { DurationError, formatDuration, parseDuration } from '../../src/core/quantity/duration.js';
import type { JsonObject } from './json.js';
import { textInput } from './text-input.js';
import { compareKeys, type Check } from './vector.js';

export const checkDuration: Check = (vector) => {
  const { input, expect } = textInput(vector);
  return compareKeys(expect, parsed(input));
};

function parsed(input: string): JsonObject {
  try {
    const ns = parseDuration(input);
    return { ok: true, ns: String(ns), string: formatDuration(ns) };
  } catch (error) {
    if (error instanceof DurationError) return { ok: false, error: error.message };
    throw error;
  }
}
