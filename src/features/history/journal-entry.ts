/** A line of the journal (docs/journal.md). Other fields depend on the type and on the version of evictd. */
export interface JournalRecord {
  readonly time: string;
  readonly type: string;
  readonly node?: unknown;
  readonly message?: unknown;
  readonly [field: string]: unknown;
}

const HEAD = /^\{"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","type":"([^"\\]*)"/;
const HEAD_BYTES = 128;

/** Time and type without parsing the line, which is enough for most; undefined: parse it. */
export function headOf(line: Buffer): { readonly time: string; readonly type: string } | undefined {
  const [, time, type] = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? [];
  return time === undefined || type === undefined ? undefined : { time, type };
}

/** undefined: no record; torn, or not from evictd. */
export function recordOf(line: Buffer): JournalRecord | undefined {
  try {
    const record: unknown = JSON.parse(line.toString());
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is JournalRecord {
  if (typeof value !== 'object' || value === null || !('time' in value) || !('type' in value)) return false;
  return typeof value.type === 'string' && typeof value.time === 'string' && !Number.isNaN(Date.parse(value.time));
}

/** A field that should be an object; empty if it is none. */
export function objectIn(record: JournalRecord | undefined, field: string): Readonly<Record<string, unknown>> {
  const value = record?.[field];
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

export function textIn(record: Readonly<Record<string, unknown>> | undefined, field: string): string | undefined {
  const value = record?.[field];
  return typeof value === 'string' ? value : undefined;
}

/** Integers beyond 2^53 are decimal strings. */
export function integerIn(record: Readonly<Record<string, unknown>> | undefined, field: string): bigint | undefined {
  const value = record?.[field];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
}
