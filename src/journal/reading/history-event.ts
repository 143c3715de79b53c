import type { Json } from '../../core/name/json-text.js';
import { attempt } from '../../errors.js';

/** A line of the journal (docs/journal.md). Other fields depend on the type and on the version of evictd. */
export interface JournalRecord {
  readonly time: string;
  readonly type: string;
  readonly node?: Json;
  readonly message?: Json;
  readonly [field: string]: Json;
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
  const record = attempt((): unknown => JSON.parse(line.toString()));
  return isRecord(record) ? record : undefined;
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

/** '' where it has none. */
export function wordIn(record: Readonly<Record<string, unknown>>, field: string): string {
  return textIn(record, field) ?? '';
}

/** Integers beyond 2^53 are decimal strings. */
export function integerIn(record: Readonly<Record<string, unknown>> | undefined, field: string): bigint | undefined {
  const value = record?.[field];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
}

/**
 * An eviction with its records, or any other record. `seen` is the state of an eviction without an outcome:
 * 'in-flight', or 'unseen' if its evictd ended first and no later one recorded the outcome.
 */
export type HistoryEvent =
  | { readonly kind: 'record'; readonly record: JournalRecord }
  | {
      readonly kind: 'eviction';
      readonly decision: JournalRecord | undefined;
      readonly escalation: JournalRecord | undefined;
      readonly outcome: JournalRecord | undefined;
      readonly seen: 'in-flight' | 'unseen';
    };
export type Eviction = Extract<HistoryEvent, { kind: 'eviction' }>;

const PARTS: ReadonlySet<string> = new Set(['decision', 'escalation', 'outcome', 'ranking']);

/** Whether a record of this type is part of an eviction. */
export function isPart(type: string): boolean {
  return PARTS.has(type);
}

/** The key of an eviction, with the victim's id, because a new run may restart the numbers of decisions. */
export function evictionKey(record: JournalRecord): string {
  const id = objectIn(record, 'victim').id;
  return JSON.stringify([record.node, record.decision, id]);
}

export function typeOf(event: HistoryEvent): string {
  return event.kind === 'eviction' ? 'eviction' : event.record.type;
}

/** The time of the decision, if there is one. */
export function timeOf(event: HistoryEvent): string {
  if (event.kind === 'record') return event.record.time;
  return (event.decision ?? event.escalation ?? event.outcome)?.time ?? '';
}

export function firstOf({ decision, escalation, outcome }: Eviction): JournalRecord | undefined {
  return decision ?? escalation ?? outcome;
}

export function isDryRun(event: HistoryEvent): boolean {
  return (event.kind === 'record' ? event.record : firstOf(event))?.dryRun === true;
}

/** One of RESULTS; undefined: no eviction. */
export function resultOf(event: HistoryEvent): string | undefined {
  if (event.kind === 'record') return undefined;
  return textIn(event.outcome, 'result') ?? (isDryRun(event) ? 'dry-run' : event.seen);
}

export function workloadOf(event: HistoryEvent): { readonly name: string | undefined; readonly path: string | undefined } | undefined {
  const record = event.kind === 'record' ? event.record : firstOf(event);
  const field = ['victim', 'workload'].find((name) => typeof record?.[name] === 'object');
  if (field === undefined) return undefined;
  const workload = objectIn(record, field);
  return { name: textIn(workload, 'name'), path: textIn(workload, 'path') };
}

export function signalOf(event: HistoryEvent): string | undefined {
  return event.kind === 'record' ? textIn(event.record, 'signal') : (textIn(event.decision, 'signal') ?? textIn(event.outcome, 'signal'));
}
