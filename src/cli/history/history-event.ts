import { objectIn, textIn, type JournalRecord } from './journal-record.js';

/**
 * What happened: an eviction with all that was recorded of it, or a record that stands for itself. `seen` is the end of an eviction without an outcome: 'in-flight',
 * it goes on; 'unseen', its evictd was gone before it was over, and nobody wrote it down.
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

/** Whether it is part of an eviction. */
export function isPart(type: string): boolean {
  return PARTS.has(type);
}

/** The number of a decision begins anew with some runs: the victim's id makes it unique. */
export function evictionKey(record: JournalRecord): string {
  const id = objectIn(record, 'victim').id;
  return JSON.stringify([record.node, record.decision, id]);
}

/** 'eviction', or the record's own. */
export function typeOf(event: HistoryEvent): string {
  return event.kind === 'eviction' ? 'eviction' : event.record.type;
}

/** When it was decided, else when it was written down. */
export function timeOf(event: HistoryEvent): string {
  if (event.kind === 'record') return event.record.time;
  return (event.decision ?? event.escalation ?? event.outcome)?.time ?? '';
}

/** Any record of it: that of the decision where there is one. */
export function firstOf({ decision, escalation, outcome }: Eviction): JournalRecord | undefined {
  return decision ?? escalation ?? outcome;
}

export function isDryRun(event: HistoryEvent): boolean {
  return (event.kind === 'record' ? event.record : firstOf(event))?.dryRun === true;
}

/** killed, ineffective, failed, vanished, abandoned; of those without an outcome dry-run, unseen or in-flight. undefined: no eviction. */
export function resultOf(event: HistoryEvent): string | undefined {
  if (event.kind === 'record') return undefined;
  return textIn(event.outcome, 'result') ?? (isDryRun(event) ? 'dry-run' : event.seen);
}

/** The workload that it is about. */
export function workloadOf(event: HistoryEvent): { readonly name: string | undefined; readonly path: string | undefined } | undefined {
  const record = event.kind === 'record' ? event.record : firstOf(event);
  const field = ['victim', 'workload'].find((name) => typeof record?.[name] === 'object');
  if (field === undefined) return undefined;
  const workload = objectIn(record, field);
  return { name: textIn(workload, 'name'), path: textIn(workload, 'path') };
}

/** The signal that led to it. */
export function signalOf(event: HistoryEvent): string | undefined {
  return event.kind === 'record' ? textIn(event.record, 'signal') : (textIn(event.decision, 'signal') ?? textIn(event.outcome, 'signal'));
}
