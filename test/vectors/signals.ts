import { makeSignalObservations } from '../../src/kubernetes/summary.js';
import { isObject } from './json.js';
import { VectorFormatError, type Check, type Mismatch } from './vector.js';

/** A signal that is not expected has no observation, and the other way round. */
export const checkSignals: Check = ({ line }) => {
  const { os, summary, expect } = line;
  if (os !== 'linux' && os !== 'windows') throw new VectorFormatError('"os" must be linux or windows');
  if (!isObject(summary) || !isObject(expect)) throw new VectorFormatError('"summary" and "expect" must be objects');
  const { observed } = makeSignalObservations(summary, os);
  const mismatches: Mismatch[] = [];
  for (const signal of new Set([...Object.keys(expect), ...observed.keys()])) {
    const observation = [...observed].find(([name]) => name === signal)?.[1];
    const got = observation && {
      available: String(observation.available),
      capacity: String(observation.capacity),
      time: timeText(observation.timeNs),
    };
    const expected = expect[signal];
    const keys = new Set([...(isObject(expected) ? Object.keys(expected) : []), ...Object.keys(got ?? {})]);
    const differs = [...keys].some((key) => !isObject(expected) || expected[key] !== (got as Record<string, unknown> | undefined)?.[key]);
    if (differs) mismatches.push({ what: signal, expected, got });
  }
  return mismatches;
};

/** RFC 3339, UTC, whole seconds unless there is more; null: no time. */
function timeText(ns: bigint | undefined): string | null {
  if (ns === undefined) return null;
  const text = new Date(Number(ns / 1_000_000n)).toISOString();
  const nanos = String(ns % 1_000_000_000n).padStart(9, '0');
  return nanos === '000000000' ? text.replace('.000Z', 'Z') : text.replace(/\.\d{3}Z/, `.${nanos.replace(/0+$/, '')}Z`);
}
