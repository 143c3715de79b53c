/** JSON with integers beyond 2^53 as bigints. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Strings, to skip digits inside them, or numbers. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/g;

/** Shorter integers are safe. Testing is a hundred times faster than replacing. */
const SIXTEEN_DIGITS = /\d{16}/;

/** A key that real documents do not use. */
const BIGINT_KEY = '\u0000bigint';

/**
 * Parses JSON; integers that a double cannot hold become bigints. (The reviver of Node 20 does not see the source
 * text.)
 *
 * @throws SyntaxError as JSON.parse
 */
export function parseJson(text: string): Json {
  const plain = JSON.parse(text) as Json; // checks the syntax
  if (!SIXTEEN_DIGITS.test(text)) return plain;
  const tagged = text.replace(STRING_OR_NUMBER, (token, fraction?: string, exponent?: string) => {
    if (token.startsWith('"') || fraction !== undefined || exponent !== undefined || Number.isSafeInteger(Number(token))) return token;
    return JSON.stringify({ [BIGINT_KEY]: token });
  });
  return tagged === text ? plain : (JSON.parse(tagged, revive) as Json);
}

/** JSON with bigints as numbers: what {@link parseJson} reads. */
export function formatJson(value: unknown): string {
  const mark = (_key: string, item: unknown): unknown => (typeof item === 'bigint' ? `${BIGINT_KEY}${String(item)}` : item);
  return JSON.stringify(value, mark).replace(/"\\u0000bigint(-?\d+)"/g, '$1');
}

function revive(_key: string, value: Json): Json {
  if (!isObject(value)) return value;
  const digits = value[BIGINT_KEY];
  return typeof digits === 'string' ? BigInt(digits) : value;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
