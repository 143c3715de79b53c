import type { JsonObject } from './json.js';

/** One line of a vector file. */
export interface Vector {
  /** Unique in its file. */
  readonly name: string;
  /** What the line shows. */
  readonly why: string;
  /** The whole line: what besides name and why is there depends on the area. */
  readonly line: JsonObject;
}

/** One expectation that did not hold. */
export interface Mismatch {
  /** Which part of the expectation. */
  readonly what: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/**
 * Runs one line and says what differs; nothing: it passed.
 *
 * @throws VectorFormatError where the line has not the form that the area asks for
 */
export type Check = (vector: Vector) => readonly Mismatch[];

export class VectorFormatError extends Error {
  override readonly name = 'VectorFormatError';
}

/**
 * Compares the keys of an expectation with what was computed. A key that nothing was computed for is a mismatch: a
 * check that does not know an expectation must not pass it over.
 *
 * @param ignored  keys that the format marks as not to be tested
 */
export function compareKeys(expected: JsonObject, got: Readonly<Record<string, unknown>>, ignored: readonly string[] = []): Mismatch[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(got)])]
    .filter((key) => !ignored.includes(key) && expected[key] !== got[key])
    .map((key) => ({ what: key, expected: expected[key], got: got[key] }));
}
