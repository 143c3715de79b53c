/**
 * The part of protocol buffers that CRI's messages use (protobuf.dev/programming-guides/encoding): text, whole numbers
 * and flags as varints, messages, lists of messages or texts, and maps of text to text. Fields that a table does not
 * name are skipped.
 */
type Kind = 'text' | 'whole' | 'flag' | 'texts' | 'words' | { readonly message: Table } | { readonly list: Table };
export type Table = Readonly<Record<string, readonly [field: number, kind: Kind]>>;

type ValueOf<K> = K extends 'text'
  ? string
  : K extends 'whole'
    ? number
    : K extends 'flag'
      ? boolean
      : K extends 'texts'
        ? Readonly<Record<string, string>>
        : K extends 'words'
          ? readonly string[]
          : K extends { readonly message: infer T }
            ? Decoded<T>
            : K extends { readonly list: infer T }
              ? readonly Decoded<T>[]
              : never;

/** Every field is there: what was not sent is '', 0, false, {} or []. */
export type Decoded<T> = { readonly [N in keyof T]: T[N] extends readonly [number, infer K] ? ValueOf<K> : never };
/** A field that is left out is not sent. */
export type Encodable<T> = { readonly [N in keyof T]?: T[N] extends readonly [number, infer K] ? Input<K> : never };
type Input<K> = K extends { readonly message: infer T }
  ? Encodable<T>
  : K extends { readonly list: infer T }
    ? readonly Encodable<T>[]
    : ValueOf<K>;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const ENTRY = { key: [1, 'text'], value: [2, 'text'] } as const satisfies Table;

/** @param value  whole numbers must not be negative */
export function encode<T extends Table>(table: T, value: Encodable<T>): Buffer {
  const parts: Buffer[] = [];
  const bytes = (field: number, content: Buffer): void => {
    parts.push(varint(field * 8 + BYTES), varint(content.length), content);
  };
  for (const [name, [field, kind]] of Object.entries(table)) {
    const found = (value as Readonly<Record<string, unknown>>)[name];
    if (found === undefined) continue;
    if (kind === 'text') bytes(field, Buffer.from(found as string));
    else if (kind === 'whole' || kind === 'flag') parts.push(varint(field * 8 + VARINT), varint(Number(found)));
    else if (kind === 'words') for (const word of found as readonly string[]) bytes(field, Buffer.from(word));
    else if (kind === 'texts') {
      for (const [key, text] of Object.entries(found as Record<string, string>)) bytes(field, encode(ENTRY, { key, value: text }));
    } else if ('message' in kind) bytes(field, encode(kind.message, found as object));
    else for (const item of found as readonly object[]) bytes(field, encode(kind.list, item));
  }
  return Buffer.concat(parts);
}

/** Throws RangeError where the bytes are no such message. */
export function decode<T extends Table>(table: T, buffer: Buffer): Decoded<T> {
  const fields = new Map(Object.entries(table).map(([name, [field, kind]]) => [field, { name, kind }]));
  const value: Record<string, unknown> = Object.fromEntries(Object.entries(table).map(([name, [, kind]]) => [name, nothingOf(kind)]));
  const reader = new Reader(buffer);
  while (!reader.atEnd) {
    const tag = reader.varint();
    const wire = tag % 8;
    const known = fields.get(Math.floor(tag / 8));
    if (wire === VARINT) {
      const number = reader.varint();
      if (known?.kind === 'whole') value[known.name] = number;
      else if (known?.kind === 'flag') value[known.name] = number !== 0;
    } else if (wire === BYTES) {
      const bytes = reader.bytes(reader.varint());
      if (known === undefined) continue;
      const { name, kind } = known;
      if (kind === 'text') value[name] = bytes.toString('utf8');
      else if (kind === 'words') (value[name] as string[]).push(bytes.toString('utf8'));
      else if (kind === 'texts') {
        const entry = decode(ENTRY, bytes);
        Object.defineProperty(value[name], entry.key, { value: entry.value, enumerable: true, configurable: true });
      } else if (typeof kind === 'object') {
        if ('message' in kind) value[name] = decode(kind.message, bytes);
        else (value[name] as unknown[]).push(decode(kind.list, bytes));
      }
    } else if (wire === FIXED64 || wire === FIXED32) reader.bytes(wire === FIXED64 ? 8 : 4);
    else throw new RangeError(`wire type ${String(wire)} at byte ${String(reader.at)}`);
  }
  return value as Decoded<T>;
}

function nothingOf(kind: Kind): unknown {
  switch (kind) {
    case 'text':
      return '';
    case 'whole':
      return 0;
    case 'flag':
      return false;
    case 'texts':
      return {};
    case 'words':
      return [];
    default:
      return 'message' in kind ? decode(kind.message, EMPTY) : [];
  }
}

const EMPTY = Buffer.alloc(0);

function varint(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

class Reader {
  at = 0;

  constructor(private readonly buffer: Buffer) {}

  get atEnd(): boolean {
    return this.at >= this.buffer.length;
  }

  /** Not exact beyond 2^53, and two's complement for negative numbers: no field that is read has either. */
  varint(): number {
    let number = 0;
    for (let shift = 1, count = 0; count < 10; count++, shift *= 0x80) {
      const byte = this.buffer[this.at++];
      if (byte === undefined) throw new RangeError('cut off within a number');
      number += (byte & 0x7f) * shift;
      if (byte < 0x80) return number;
    }
    throw new RangeError(`a number of more than ten bytes at byte ${String(this.at)}`);
  }

  bytes(length: number): Buffer {
    const end = this.at + length;
    if (end > this.buffer.length) throw new RangeError(`cut off: ${String(length)} bytes at byte ${String(this.at)}`);
    const bytes = this.buffer.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}
