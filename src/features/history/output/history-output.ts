import { amountOf, amountOfBytes, counted } from '../../../core/quantity/amount.js';
import { isSignal, operatorOf } from '../../../core/signal/signal.js';
import {
  firstOf,
  isDryRun,
  resultOf,
  timeOf,
  type Eviction,
  type HistoryEvent,
  integerIn,
  objectIn,
  textIn,
  type JournalRecord,
} from '../../../journal/reading/history-event.js';
import { departuresOf } from '../../../core/decide/departures.js';
import { decidedRanking, rankingTable } from '../../../cli/output/ranking-rows.js';
import { policyReasonText } from '../../../core/message/policy-message.js';
import { momentText } from '../../../cli/output/moment.js';
import type { Colour, Style } from '../../../cli/output/style.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { processesText, type VictimProcess } from '../../../core/oom/victim-process.js';
import { OOM_LIMITS } from '../../../core/oom/kernel-kill.js';
import type { Summary, WorkloadHistory } from '../history-summary.js';
import { table } from '../../../cli/output/table.js';
import { jsonText, jsonDocument } from '../../../core/name/json-text.js';
import { printable } from '../../../core/name/printable.js';
import { victimName, type NamedProcess } from '../../../core/workload/process.js';

/** The word for each result of an eviction. */
const LABELS: Readonly<Record<string, readonly [label: string, colour: Colour]>> = {
  killed: ['evicted', 'yellow'],
  ineffective: ['ineffective', 'red'],
  failed: ['failed', 'red'],
  vanished: ['vanished', 'dim'],
  abandoned: ['abandoned', 'red'],
  lost: ['lost', 'red'],
  unseen: ['unseen', 'red'],
  'in-flight': ['in flight', 'yellow'],
  'dry-run': ['would evict', 'dim'],
};
const COLOURS: Readonly<Record<string, Colour>> = { alert: 'red', 'kernel-oom': 'red', error: 'red' };
const WIDTH = 11;
const DRY = 'dry run: ';

/** One line: time, event, workload, reason, result. Names are untrusted, so control characters are escaped. */
export function eventLine(event: HistoryEvent, style: Style, utc: boolean, ranking = false): string {
  const [label, colour] = labelOf(event);
  const time = momentText(Date.parse(timeOf(event)), utc);
  const text = event.kind === 'eviction' ? evictionText(event) : recordText(event.record);
  const dry = event.kind === 'record' && isDryRun(event) && !text.startsWith(DRY) ? DRY : '';
  return `${style('dim', time)}  ${colour === undefined ? label.padEnd(WIDTH) : style(colour, label.padEnd(WIDTH))}  ${printable(dry + text)}\n${ranking && event.kind === 'eviction' ? rankingText(event, style) : ''}`;
}

/** The candidates of an eviction, indented; '' where its decision is not known. */
function rankingText({ decision }: Eviction, style: Style): string {
  const rows = decision ? decidedRanking(decision, departuresOf('evictd')) : [];
  return rows.length === 0
    ? ''
    : `${rankingTable(rows, style)
        .map((line) => `    ${line}`)
        .join('\n')}\n`;
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

/**
 * 'batch by SIGKILL: memory.available 63.5MiB < 64Mi (hard); freed 105MiB; signal after 5.37 ms, gone 18.3 ms later'.
 */
function evictionText(eviction: Eviction): string {
  const { decision, outcome } = eviction;
  const victim = objectIn(firstOf(eviction), 'victim');
  const process = victim.process as NamedProcess | undefined;
  const name = victimName({ workload: { name: textIn(victim, 'name') ?? 'an unknown workload' }, ...(process && { process }) });
  const why = decision ? `: ${causeText(decision)}` : `: for ${textIn(outcome, 'signal') ?? 'a signal that is no longer in the journal'}`;
  const parts = [
    `${name}${stopMethodText(eviction)}${why}`,
    seriesText(firstOf(eviction)),
    violationText(decision),
    processesIn(eviction),
    endText(eviction),
    timesText(outcome),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

/** The processes of the decision. They are in the outcome if they were read after the signal. */
function processesIn({ decision, outcome }: Eviction): string {
  const recorded = decision?.processes ?? outcome?.processes;
  const processes = Array.isArray(recorded) ? (recorded as readonly unknown[]) : [];
  return processesText(processes.filter((each): each is VictimProcess => typeof each === 'object' && each !== null)) ?? '';
}

function stopMethodText({ decision, escalation }: Eviction): string {
  const action = textIn(decision, 'action');
  if (action === undefined) return '';
  const then = escalation ? `, then SIGKILL (${textIn(escalation, 'reason') ?? 'unknown'})` : '';
  const grace = decision?.graceSeconds;
  return ` by ${action}${typeof grace === 'number' && grace > 0 ? ` (${String(grace)} s)` : ''}${then}`;
}

function causeText(decision: JournalRecord): string {
  const limit = objectIn(decision, 'storageLimit');
  if (limit.kind !== undefined) return `over its limit of ${textIn(limit, 'limit') ?? '?'} (${textIn(limit, 'kind') ?? '?'})`;
  const { reason, message } = objectIn(decision, 'disruption');
  if (typeof message === 'string') return `${message} (${typeof reason === 'string' ? reason : '?'})`;
  const { name, scope, condition } = objectIn(decision, 'policy');
  if (typeof name === 'string' && typeof scope === 'string' && typeof condition === 'string')
    return policyReasonText({ policy: name, scope, condition });
  const operands = Array.isArray(decision.operands) ? (decision.operands as readonly Readonly<Record<string, unknown>>[]) : [decision];
  return `${operands.map(comparisonOf).join(' & ')} (${textIn(decision, 'kind') ?? '?'})`;
}

/** Its files keep only the 1st, 2nd, 4th, 8th, … */
function seriesText(record: JournalRecord | undefined): string {
  const occurrence = integerIn(record, 'occurrence');
  return occurrence === undefined ? '' : `its eviction ${String(occurrence)} in a series`;
}

function violationText(decision: JournalRecord | undefined): string {
  const budgets = Array.isArray(decision?.violates) ? decision.violates.map(String).join(', ') : '';
  return budgets === '' ? '' : `violates the disruption budget ${budgets}`;
}

function comparisonOf(reading: Readonly<Record<string, unknown>>): string {
  const signal = textIn(reading, 'signal') ?? '?';
  const threshold = textIn(reading, 'threshold') ?? '?';
  if (!isSignal(signal)) return `${signal} ${threshold}`;
  const available = integerIn(reading, 'available');
  const stalled = typeof reading.stalledPercent === 'number' ? `${String(reading.stalledPercent)}%` : 'not read';
  return `${signal} ${available === undefined ? stalled : amountOf(signal, available)} ${operatorOf(signal)} ${threshold}`;
}

function whyText(outcome: Eviction['outcome']): string {
  switch (textIn(outcome, 'notFreed')) {
    case 'stays':
      return '; memory stays (tmpfs, shared memory)';
    case 'taken':
      return '; others have used it again';
    default:
      return '';
  }
}

function endText({ outcome }: Eviction): string {
  const freed = integerIn(outcome, 'freedBytes') ?? 0n;
  switch (textIn(outcome, 'result')) {
    case 'killed':
      return `freed ${amountOfBytes(freed)}`;
    case 'ineffective':
      return `freed only ${amountOfBytes(freed)} of ${amountOfBytes(integerIn(outcome, 'expectedBytes') ?? 0n)}${whyText(outcome)}`;
    case 'failed': {
      const left = integerIn(outcome, 'processesLeft');
      return textIn(outcome, 'error') ?? (left === undefined ? 'processes remain' : `${counted(left, 'processes')} remain`);
    }
    case 'vanished':
      return 'it ended before evictd acted';
    case 'abandoned':
      return textIn(outcome, 'abandoned') ?? 'evictd ended during the eviction';
    case 'lost':
      return 'the machine went down before it was over';
    default:
      return '';
  }
}

function timesText(outcome: JournalRecord | undefined): string {
  const spans = objectIn(outcome, 'spansMs');
  const ms = (span: string): string | undefined =>
    typeof spans[span] === 'number' ? `${String(Math.round(spans[span] * 100) / 100)} ms` : undefined;
  const [signal, exit, killed] = [ms('crossingToSignal'), ms('signalToExit'), ms('killToExit')];
  const parts = [
    ...(signal === undefined ? [] : [`signal after ${signal}`]),
    ...(exit === undefined ? [] : [`gone ${exit} later`]),
    ...(killed === undefined ? [] : [`${killed} after SIGKILL`]),
  ];
  return parts.join(', ');
}

/** A JSON array written while the journal is read, one element per line: an eviction with its records, or a record. */
export class JsonArray {
  #any = false;

  event(event: HistoryEvent): string {
    const text = `${this.#any ? ',\n' : '[\n'}${jsonText(jsonOf(event))}`;
    this.#any = true;
    return text;
  }

  end(): string {
    return this.#any ? '\n]\n' : '[]\n';
  }
}

function jsonOf(event: HistoryEvent): unknown {
  if (event.kind === 'record') return event.record;
  const { decision, escalation, outcome } = event;
  const first = firstOf(event);
  return {
    time: timeOf(event),
    type: 'eviction',
    node: first?.node,
    result: resultOf(event),
    dryRun: isDryRun(event),
    victim: first?.victim,
    decision,
    escalation,
    outcome,
  };
}

const COLUMNS = ['WORKLOAD', '>EVICTED', '>NOT EVICTED', '>FREED', '>OOM NODE', '>OOM WORKLOAD', '>OOM OTHER', 'LAST', 'SIGNALS'];

/** Evictions without a process left, as evictd_evictions_total counts. */
const evicted = ({ killed = 0, ineffective = 0 }: Readonly<Record<string, number>>): number => killed + ineffective;

/** Evictions and OOM kills by workload. */
export function summaryText(summary: Summary, style: Style, utc: boolean): string {
  const { first, last, results, oomKills, oomKillsUnseen = 0, alerts, freedBytes } = summary;
  if (first === undefined || last === undefined) return 'no records in this time\n';
  const lines = [
    `from ${momentText(Date.parse(first), utc)} to ${momentText(Date.parse(last), utc)}`,
    '',
    `evictions   ${countsText(results)}${freedBytes === 0n ? '' : `; freed ${amountOfBytes(freedBytes)}`}`,
    `OOM kills   ${countsText(oomKills)}${oomKills.node === 0 ? '' : style('red', '; node: evictd was too late, or found no workload to evict')}`,
    ...(oomKillsUnseen === 0
      ? []
      : [`            and ${String(oomKillsUnseen)} while evictd did not run, counted by the kernel but not in the journal`]),
    `alerts      ${countsText(alerts)}`,
  ];
  const rows = ordered(summary).map((workload) => rowOf(workload, utc));
  return `${[...lines, ...(rows.length === 0 ? [] : ['', ...table(COLUMNS, rows)])].join('\n')}\n`;
}

/** '12 killed, 1 failed'. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${String(count)} ${name}`);
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function rowOf({ name, evictions, freedBytes, oomKills, signals, last }: WorkloadHistory, utc: boolean): string[] {
  const all = Object.values(evictions).reduce((sum, each) => sum + each, 0);
  const numbers = [evicted(evictions), all - evicted(evictions), oomKills.node, oomKills.workload, oomKills.other + oomKills.unknown];
  const [done, not, node, own, other] = numbers.map((value) => (value === 0 ? '-' : String(value)));
  const freed = freedBytes === 0n ? '-' : amountOfBytes(freedBytes);
  return [printable(name), done, not, freed, node, own, other, momentText(Date.parse(last), utc), [...signals].sort().join(', ')].map(
    (cell) => cell ?? '',
  );
}

/** Sorts by the number of evictions, then of OOM kills. */
function ordered({ workloads }: Summary): WorkloadHistory[] {
  const hits = ({ evictions, oomKills }: WorkloadHistory): number =>
    evicted(evictions) * 1e6 + OOM_LIMITS.reduce((sum, limit) => sum + oomKills[limit], 0);
  return [...workloads.values()].sort((a, b) => hits(b) - hits(a) || (a.name < b.name ? -1 : 1));
}

/** Results and alerts have the names of the journal. */
export function summaryJson(summary: Summary): string {
  const { first, last, results, oomKills, oomKillsUnseen, alerts, freedBytes } = summary;
  const workloads = ordered(summary).map(({ name, evictions, freedBytes: freed, signals, oomKills: kills, last: latest }) => ({
    name,
    evictions,
    freedBytes: jsonInteger(freed),
    signals: [...signals].sort(),
    oomKills: kills,
    last: latest,
  }));
  return jsonDocument({
    first,
    last,
    evictions: results,
    freedBytes: jsonInteger(freedBytes),
    oomKills,
    oomKillsUnseen,
    alerts,
    workloads,
  });
}
