import { jsonInteger } from '../core/quantity/integer.js';
import { jsonText } from '../core/name/json-text.js';
import { printable } from '../core/name/printable.js';

export type Level = 'debug' | 'info' | 'warn' | 'error';
export type Form = 'text' | 'systemd' | 'json';

type Scalar = string | number | boolean | null;
/** A JSON value. */
type Plain = Scalar | readonly Plain[] | { readonly [key: string]: Plain };
type PlainFields = Readonly<Record<string, Plain>>;

/** A line before it is formatted. `time` is the wall clock. */
export interface LogLine {
  readonly level: Level;
  readonly time: Date;
  readonly message: string;
  readonly fields: PlainFields;
}

/** `dated`: text lines have the date, for logs that are kept. */
export interface LineStyle {
  readonly colour: boolean;
  readonly dated: boolean;
}

/** The formats of a line; each ends with a line feed. */
export const FORMS: Readonly<Record<Form, (line: LogLine, style: LineStyle) => string>> = {
  text: textLine,
  systemd: systemdLine,
  json: ({ level, time, message, fields }) => `${jsonText({ level, time: time.toISOString(), ...fields, msg: message })}\n`,
};

/** Priorities of syslog, which the journal reads from a leading `<N>` (sd-daemon(3)). */
const PRIORITY: Readonly<Record<Level, number>> = { error: 3, warn: 4, info: 6, debug: 7 };
const PREFIX: Readonly<Record<Level, string>> = { error: 'error: ', warn: 'warning: ', info: '', debug: 'debug: ' };
const COLOUR: Readonly<Record<Level, string>> = { error: '\u001b[31m', warn: '\u001b[33m', info: '', debug: '\u001b[2m' };
const RESET = '\u001b[0m';

/** `12:03:44 warning: message; processes (hint) [CODE]` in local time; debug lines have the other fields too. */
function textLine({ level, time, message, fields }: LogLine, style: LineStyle): string {
  const { hint, code, processes, ...others } = fields;
  const victims = typeof processes === 'string' ? `; ${processes}` : '';
  const remedy = (typeof hint === 'string' ? ` (${hint})` : '') + (typeof code === 'string' ? ` [${code}]` : '');
  const sentence = printable(`${PREFIX[level]}${message}${victims}${remedy}${level === 'debug' ? fieldsText(others) : ''}`);
  const coloured = style.colour && COLOUR[level] !== '' ? COLOUR[level] + sentence + RESET : sentence;
  return `${style.dated ? `${dateText(time)} ` : ''}${timeText(time)} ${coloured}\n`;
}

/** `<4>message key=value`; the journal adds the time. */
function systemdLine({ level, message, fields }: LogLine): string {
  return `<${String(PRIORITY[level])}>${printable(message + fieldsText(fields))}\n`;
}

/** ` key=value key="two words" outer.inner=5 list=a,b`, empty for no fields. */
function fieldsText(fields: PlainFields | readonly Plain[], prefix = ''): string {
  return Object.entries(fields)
    .map(([key, value]) => {
      const name = `${prefix}${key}`;
      if (typeof value === 'object' && value !== null && !isScalars(value)) return fieldsText(value, `${name}.`);
      const text = [value].flat().map(String).join(',');
      return ` ${name}=${/^[^\s"=\\]+$/.test(text) ? text : jsonText(text)}`;
    })
    .join('');
}

function isScalars(value: Plain): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null);
}

const two = (part: number): string => String(part).padStart(2, '0');
const timeText = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
const dateText = (time: Date): string => `${String(time.getFullYear())}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;

/** Deeper values are cut: they are a defect or a cycle. */
const MAX_DEPTH = 6;
/** Keys of the line itself. A field of that name gets an underscore, so that no JSON line has a key twice. */
const RESERVED = new Set(['level', 'time', 'msg']);

/** Fields as JSON values, without undefined ones. */
export function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, Plain> {
  const named: Record<string, Plain> = {};
  for (const [key, item] of Object.entries(fields)) {
    const value = plain(item, 0);
    if (value !== undefined) named[RESERVED.has(key) ? `${key}_` : key] = value;
  }
  return named;
}

/**
 * Integers beyond 2^53, NaN and infinities become text; an error has message, cause, code and hint; a Map is an object,
 * a Set a list.
 */
function plain(value: unknown, depth: number): Plain | undefined {
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
