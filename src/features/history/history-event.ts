import { objectIn, textIn, type JournalRecord } from './journal-entry.js';

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

const PARTS: ReadonlySet<string> = new Set(['decision', 'escalation', 'outcome']);

/** Whether a record of this type is part of an eviction. */
export function isPart(type: string): boolean {
  return PARTS.has(type);
}

/** With the victim's id, because a new run may restart the numbers of decisions. */
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

/** Its first record. */
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
