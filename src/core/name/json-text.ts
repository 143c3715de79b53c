import { printable } from './printable.js';

/** What JSON.stringify writes without an error: it throws at a bigint. A field that is undefined is left out. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: Json;
}

/**
 * JSON of a value. A byte of a name that is not UTF-8 (byte-text.ts) becomes the text `\xff`: strict readers of JSON
 * refuse a lone surrogate.
 */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  // JSON.stringify writes a lone surrogate as \udcff, and a backslash as two.
  if (!text.includes('\\ud')) return text;
  return text.replace(/\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g, (written, unit: string | undefined) =>
    unit === undefined ? written : `\\${printable(String.fromCharCode(Number.parseInt(unit, 16)))}`,
  );
}

/** Indented, with a line feed at its end: what commands and the API answer. */
export function jsonDocument(value: unknown): string {
  return `${jsonText(value, 2)}\n`;
}

/** How much a value takes as JSON, in bytes of UTF-8. An integer (bigint) counts as its digits. */
export function jsonBytes(value: unknown): number {
  const text = JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
  return new TextEncoder().encode(text).length;
}
