import { amountOf, amountOfBytes, counted } from '../../core/amount.js';
import { isSignal, operatorOf } from '../../core/signal.js';
import { firstOf, isDryRun, resultOf, timeOf, type Eviction, type HistoryEvent } from '../history/history-event.js';
import { integerIn, objectIn, textIn, type JournalRecord } from '../history/journal-record.js';
import { momentText } from '../history/moment.js';
import type { Colour, Style } from './style.js';

/** The word for each result of an eviction. */
const LABELS: Readonly<Record<string, readonly [label: string, colour: Colour]>> = {
  killed: ['evicted', 'yellow'],
  ineffective: ['ineffective', 'red'],
  failed: ['failed', 'red'],
  vanished: ['vanished', 'dim'],
  abandoned: ['abandoned', 'red'],
  unseen: ['unseen', 'red'],
  'in-flight': ['in flight', 'yellow'],
  'dry-run': ['would evict', 'dim'],
};
const COLOURS: Readonly<Record<string, Colour>> = { alert: 'red', 'kernel-oom': 'red', error: 'red' };
const WIDTH = 11;

/** One line: time, event, workload, reason, result. Names are untrusted, so control characters are escaped. */
export function eventLine(event: HistoryEvent, style: Style, utc: boolean): string {
  const [label, colour] = labelOf(event);
  const time = momentText(Date.parse(timeOf(event)), utc);
  const text = event.kind === 'eviction' ? evictionText(event) : recordText(event.record);
  const dry = event.kind === 'record' && isDryRun(event) ? 'dry run: ' : '';
  return `${style('dim', time)}  ${colour === undefined ? label.padEnd(WIDTH) : style(colour, label.padEnd(WIDTH))}  ${printable(dry + text)}\n`;
}

function recordText(record: JournalRecord): string {
  const { errors } = record;
  const reasons = record.type === 'reload-refused' && Array.isArray(errors) ? `: ${errors.join('; ')}` : '';
  return (textIn(record, 'message') ?? JSON.stringify(record)) + reasons;
}

function labelOf(event: HistoryEvent): readonly [string, Colour | undefined] {
  if (event.kind === 'record') return [event.record.type, COLOURS[event.record.type]];
  const result = resultOf(event) ?? '';
  return LABELS[result] ?? [result, undefined];
}

/** 'batch by SIGKILL: memory.available 63.5MiB < 64Mi (hard); freed 105MiB; signal after 5.37 ms, gone 18.3 ms later'. */
function evictionText(eviction: Eviction): string {
  const { decision, outcome } = eviction;
  const name = textIn(objectIn(firstOf(eviction), 'victim'), 'name') ?? 'an unknown workload';
  const why = decision ? `: ${causeText(decision)}` : `: for ${textIn(outcome, 'signal') ?? 'a signal that is no longer in the journal'}`;
  return [`${name}${meansText(eviction)}${why}`, endText(eviction), timesText(outcome)].filter((part) => part !== '').join('; ');
}

function meansText({ decision, escalation }: Eviction): string {
  const action = textIn(decision, 'action');
  if (action === undefined) return '';
  const then = escalation ? `, then SIGKILL (${textIn(escalation, 'reason') ?? 'unknown'})` : '';
  const grace = decision?.graceSeconds;
  return ` by ${action}${typeof grace === 'number' && grace > 0 ? ` (${String(grace)} s)` : ''}${then}`;
}

function causeText(decision: JournalRecord): string {
  const limit = objectIn(decision, 'storageLimit');
  if (limit.kind !== undefined) return `over its limit of ${textIn(limit, 'limit') ?? '?'} (${textIn(limit, 'kind') ?? '?'})`;
  const operands = Array.isArray(decision.operands) ? (decision.operands as readonly Readonly<Record<string, unknown>>[]) : [decision];
  return `${operands.map(comparisonOf).join(' & ')} (${textIn(decision, 'kind') ?? '?'})`;
}

function comparisonOf(reading: Readonly<Record<string, unknown>>): string {
  const signal = textIn(reading, 'signal') ?? '?';
  const threshold = textIn(reading, 'threshold') ?? '?';
  if (!isSignal(signal)) return `${signal} ${threshold}`;
  const available = integerIn(reading, 'available');
  const stalled = typeof reading.stalledPercent === 'number' ? `${String(reading.stalledPercent)}%` : 'not read';
  return `${signal} ${available === undefined ? stalled : amountOf(signal, available)} ${operatorOf(signal)} ${threshold}`;
}

function endText({ outcome }: Eviction): string {
  const freed = integerIn(outcome, 'freedBytes') ?? 0n;
  switch (textIn(outcome, 'result')) {
    case 'killed':
      return `freed ${amountOfBytes(freed)}`;
    case 'ineffective':
      return `freed only ${amountOfBytes(freed)} of ${amountOfBytes(integerIn(outcome, 'expectedBytes') ?? 0n)}`;
    case 'failed': {
      const left = integerIn(outcome, 'processesLeft');
      return textIn(outcome, 'error') ?? (left === undefined ? 'processes remain' : `${counted(left, 'processes')} remain`);
    }
    case 'vanished':
      return 'it ended before evictd acted';
    case 'abandoned':
      return textIn(outcome, 'abandoned') ?? 'evictd ended during the eviction';
    default:
      return '';
  }
}

function timesText(outcome: JournalRecord | undefined): string {
  const spans = objectIn(outcome, 'spansMs');
  const ms = (span: string): string | undefined =>
    typeof spans[span] === 'number' ? `${String(Math.round(spans[span] * 100) / 100)} ms` : undefined;
  const [signal, gone, killed] = [ms('crossingToSignal'), ms('signalToGone'), ms('killToGone')];
  const parts = [
    ...(signal === undefined ? [] : [`signal after ${signal}`]),
    ...(gone === undefined ? [] : [`gone ${gone} later`]),
    ...(killed === undefined ? [] : [`${killed} after SIGKILL`]),
  ];
  return parts.join(', ');
}

// eslint-disable-next-line no-control-regex -- to escape them
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Escapes control characters in untrusted names. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
