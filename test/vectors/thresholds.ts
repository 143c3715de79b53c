import { resolvedText } from './kubelet/eviction-message.js';
import { parseThresholdConfig, type ThresholdConfig } from './kubelet/threshold-config.js';
import { FloatError } from '../../src/config/value/float32.js';
import { parseMinimumReclaim, parseThresholdValue, ThresholdError } from '../../src/config/resolve/thresholds.js';
import { updateContainerFsThresholds, type ReportedLayout } from '../../src/core/decide/containerfs.js';
import { DurationError } from '../../src/core/quantity/duration.js';
import { parseQuantity, QuantityError, quantityValue } from '../../src/core/quantity/quantity.js';
import type { Signal } from '../../src/core/signal/signal.js';
import { resolve, thresholdKind, valueText, type Threshold, type ThresholdValue } from '../../src/core/threshold/threshold.js';
import { isObject, type Json, type JsonObject } from './json.js';
import { compareKeys, VectorFormatError, type Check, type Mismatch } from './vector.js';

export const checkThresholds: Check = ({ line }) => {
  const { kind, expect } = line;
  if (!isObject(expect)) throw new VectorFormatError('"expect" must be an object');
  switch (kind) {
    case 'parse':
      return checkParse(configOf(line), expect);
    case 'containerfs':
      return checkContainerFs(configOf(line), layoutOf(line), expect);
    case 'resolve':
      return compareKeys(expect, resolved(textOf(line, 'value'), BigInt(textOf(line, 'capacity'))));
    default:
      throw new VectorFormatError('"kind" must be parse, containerfs or resolve');
  }
};

function checkParse(config: ThresholdConfig, expect: JsonObject): readonly Mismatch[] {
  let thresholds: readonly Threshold[];
  try {
    thresholds = parseThresholdConfig(config);
  } catch (error) {
    const known = [ThresholdError, QuantityError, FloatError, DurationError].some((type) => error instanceof type);
    if (error instanceof Error && known) return compareKeys(expect, { ok: false, error: error.message });
    throw error;
  }
  return [...compareKeys(expect, { ok: true }, ['thresholds']), ...compareThresholds(expect.thresholds, thresholds)];
}

function checkContainerFs(config: ThresholdConfig, layout: ReportedLayout, expect: JsonObject): readonly Mismatch[] {
  const { thresholds, overridden } = updateContainerFsThresholds(parseThresholdConfig(config), layout);
  return [...compareKeys(expect, { overridden }, ['thresholds']), ...compareThresholds(expect.thresholds, thresholds)];
}

function resolved(text: string, capacity: bigint): Record<string, unknown> {
  const value = anyValue('memory.available', text);
  return {
    value: String(resolve(value, capacity)),
    string: resolvedText(value, capacity),
    ...(value.kind === 'percentage' ? { float32: float32Json(value.fraction) } : {}),
  };
}

/**
 * A minimum reclaim may be more than 100 % or no amount, a threshold may be a percentage of 0 as long as it is not
 * `0%`.
 */
function anyValue(signal: Signal, text: string): ThresholdValue {
  if (text === '0%') return anyValue(signal, '0.0%');
  try {
    return parseMinimumReclaim(signal, text);
  } catch (error) {
    const value = error instanceof ThresholdError ? parseThresholdValue(signal, text) : undefined;
    if (value === undefined) throw error;
    return value;
  }
}

/**
 * Thresholds of the same signal, kind and grace period have no order. One with an empty operator is never met and is
 * not there in this program.
 */
function compareThresholds(expected: Json | undefined, got: readonly Threshold[]): readonly Mismatch[] {
  if (expected === null) return compareThresholds([], got);
  if (!Array.isArray(expected)) throw new VectorFormatError('"expect.thresholds" must be a list');
  const left = [...got];
  const missing = (expected as readonly Json[]).filter((one) => {
    if (!isObject(one)) throw new VectorFormatError('a threshold must be an object');
    if (one.operator === '') return false;
    const index = left.findIndex((threshold) => isSame(one, threshold));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
  return missing.length + left.length === 0 ? [] : [{ what: 'thresholds', expected: missing, got: left.map(thresholdJson) }];
}

function isSame(expected: JsonObject, threshold: Threshold): boolean {
  const { value, minReclaim } = threshold;
  return (
    compareKeys(expected, thresholdJson(threshold), ['value', 'minReclaim']).length === 0 &&
    isSameValue(expected.value, valueJson(value), value) &&
    (minReclaim ? isSameValue(expected.minReclaim, valueJson(minReclaim), minReclaim) : expected.minReclaim === null)
  );
}

/**
 * `text`, what was written, is missing where it cannot be reconstructed. A quantity keeps how it prints; what was written has
 * to mean the same.
 */
function isSameValue(expected: Json | undefined, got: Record<string, JsonObject>, value: ThresholdValue): boolean {
  const inner = isObject(expected) && Object.keys(expected).length === 1 ? expected[value.kind] : undefined;
  if (!isObject(inner)) return false;
  const { text, ...rest } = inner;
  const written = value.kind === 'percentage' ? value.text === text : isText(text) && parseQuantity(text).text === value.quantity.text;
  return (text === undefined || written) && compareKeys(rest, got[value.kind] ?? {}).length === 0;
}

function isText(json: Json | undefined): json is string {
  return typeof json === 'string';
}

function thresholdJson(threshold: Threshold): Record<string, unknown> {
  const { signal, gracePeriodNs, value, minReclaim } = threshold;
  return {
    signal,
    operator: 'LessThan',
    hard: thresholdKind(threshold) === 'hard',
    gracePeriodNs: String(gracePeriodNs),
    value: valueJson(value),
    minReclaim: minReclaim ? valueJson(minReclaim) : null,
  };
}

function valueJson(value: ThresholdValue): Record<string, JsonObject> {
  return value.kind === 'percentage'
    ? { percentage: { float32: float32Json(value.fraction) } }
    : { quantity: { string: valueText(value), value: String(quantityValue(value.quantity)) } };
}

function float32Json(fraction: number): number | string {
  return Number.isFinite(fraction) ? fraction : String(fraction);
}

export function configOf({ config }: JsonObject): ThresholdConfig {
  if (!isObject(config)) throw new VectorFormatError('"config" must be an object');
  const enforceNodeAllocatable = config.enforceNodeAllocatable ?? [];
  if (!Array.isArray(enforceNodeAllocatable)) throw new VectorFormatError('"enforceNodeAllocatable" must be a list');
  return {
    enforceNodeAllocatable: enforceNodeAllocatable.map(String),
    evictionHard: textsOf(config.evictionHard),
    evictionSoft: textsOf(config.evictionSoft),
    evictionSoftGracePeriod: textsOf(config.evictionSoftGracePeriod),
    evictionMinimumReclaim: textsOf(config.evictionMinimumReclaim),
  };
}

function textsOf(map: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(map) ? map : {}).map(([key, text]): [string, string] => {
    if (typeof text !== 'string') throw new VectorFormatError(`"${key}" must be a text`);
    return [key, text];
  });
  return Object.fromEntries(entries);
}

function layoutOf({ layout }: JsonObject): ReportedLayout {
  if (!isObject(layout)) throw new VectorFormatError('"layout" must be an object');
  if (layout.dedicatedImageFs === true) return layout.separateContainerFs === true ? 'split' : 'imagefs';
  return layout.separateContainerFs === true ? 'containerfs-only' : 'single';
}

function textOf(line: JsonObject, key: string): string {
  const text = line[key];
  if (typeof text !== 'string') throw new VectorFormatError(`"${key}" must be a text`);
  return text;
}
