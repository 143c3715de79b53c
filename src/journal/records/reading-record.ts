import { percentOf } from '../../core/quantity/amount.js';
import { holderJson } from '../../core/disk/disk-holder.js';
import type { Decision } from '../../core/decide/eviction.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import type { ThresholdReading } from '../../core/message/message.js';
import type { Observation } from '../../core/signal/observation.js';
import { isPressure, type Signal } from '../../core/signal/signal.js';
import { isListed, resolve, thresholdKind, valueText, whenText, type Operand } from '../../core/threshold/threshold.js';
import type { JsonObject } from '../../core/name/json-text.js';

export function readingOf(reading: ThresholdReading): JsonObject {
  const { threshold, observation } = reading;
  const { signal, ...values } = operandReading(threshold, observation);
  return { signal, kind: thresholdKind(threshold), ...values, ...joinedOf(reading) };
}

/** The reading of every operand, for an entry of the list `thresholds`. */
export function joinedOf({
  threshold,
  observation,
  joined = [],
}: Omit<ThresholdReading, 'observation'> & { observation: Observation | undefined }): JsonObject {
  if (!isListed(threshold)) return {};
  const operands = [{ operand: threshold, observation }, ...joined];
  return { when: whenText(threshold), operands: operands.map(({ operand, observation: read }) => operandReading(operand, read)) };
}

/** Amounts in the unit of the signal; pressure in percent of the wall time. */
function operandReading({ signal, value }: Operand, observation: Observation | undefined): JsonObject {
  const threshold = { signal, threshold: valueText(value) };
  if (observation === undefined) return threshold;
  const { available, capacity, source } = observation;
  const limit = resolve(value, capacity);
  if (isPressure(signal)) return { ...threshold, thresholdPercent: percentOf(limit), stalledPercent: percentOf(available), source };
  return {
    ...threshold,
    thresholdValue: jsonInteger(limit),
    available: jsonInteger(available),
    capacity: jsonInteger(capacity),
    source,
  };
}

/** What the node had of the signal before or after an eviction. */
export function nodeReading(signal: Signal, when: 'Before' | 'After', { available }: Observation): JsonObject {
  if (isPressure(signal)) return { [`nodeStalledPercent${when}`]: percentOf(available) };
  return { [`nodeAvailable${when}`]: jsonInteger(available) };
}

export function holdersOf({ holders }: Pick<Decision, 'holders'>): JsonObject {
  return holders === undefined ? {} : { holders: holders.map(holderJson) };
}
