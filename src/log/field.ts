import { jsonInteger } from '../core/integer.js';
/** Deeper than this a field is a mistake, or a circle. */
const MAX_DEPTH = 6;

/** What a log line may carry: JSON values. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** Keys of the line itself. A field of that name gets an underscore, so that no JSON line has a key twice. */
const RESERVED = new Set(['level', 'time', 'msg']);

/**
 * A field's value as JSON: integers beyond 2^53 and numbers that JSON does not have as text, errors with message, cause, code and hint, maps as
 * objects, sets as lists.
 */
export function plain(value: unknown, depth = 0): Plain | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return jsonInteger(value);
    case 'object':
      return value === null ? null : depth >= MAX_DEPTH ? '…' : plainObject(value, depth + 1);
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined;
  }
}

function plainObject(value: object, depth: number): Plain {
  if (Array.isArray(value)) return value.map((item) => plain(item, depth) ?? null);
  if (value instanceof Set) return [...value].map((item) => plain(item, depth) ?? null);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return plainObject(Object.assign({ message: value.message, cause: value.cause }, value), depth);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.flatMap(([key, item]) => {
      const text = plain(item, depth);
      return text === undefined ? [] : [[String(key), text]];
    }),
  );
}

/** A line's fields as JSON values, those without a value left out. */
export function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, Plain> {
  const named: Record<string, Plain> = {};
  for (const [key, item] of Object.entries(fields)) {
    const value = plain(item);
    if (value !== undefined) named[RESERVED.has(key) ? `${key}_` : key] = value;
  }
  return named;
}
