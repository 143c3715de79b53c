import { jsonDocument } from '../../core/name/json-text.js';
import { printable } from '../../core/name/printable.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { observedText, recordedMoment, type RecordedMoment } from './recorded-moment.js';
import type { LoadedConfig } from '../../config/config.js';
import { isSignal, operatorOf, type ResourceSignal } from '../../core/signal/signal.js';
import type { Io } from '../../cli/output/io.js';
import { momentOf, momentText } from '../../cli/output/moment.js';
import { decidedRanking, rankingTable, type RankedRow } from '../../cli/output/ranking-rows.js';
import { styleFor, type Style } from '../../cli/output/style.js';
import { FullRanking } from '../../journal/reading/full-ranking.js';
import { headOf, integerIn, objectIn, recordOf, textIn, wordIn, type JournalRecord } from '../../journal/reading/history-event.js';
import { openJournal, type OpenJournal } from '../../journal/reading/journal-reader.js';
import { linesOf, momentIn, type JournalMoment } from './journal-range.js';

interface PastQuestion {
  readonly at: string;
  readonly utc?: boolean;
  readonly workload: string | undefined;
  readonly signal?: ResourceSignal;
  readonly output: 'text' | 'json';
}

/** A decision is about a time if it is this near. */
const NEAR_MS = 60_000;
/** Alerts and ended evictions that are listed. */
const LISTED = 5;

/** What the journal says of a moment. */
interface Past {
  /** The last `start` or `stop` before it; undefined: the journal begins later. */
  run: JournalRecord | undefined;
  /** The `threshold` records of the episodes that lasted then, by threshold. */
  readonly episodes: Map<string, JournalRecord>;
  readonly conditions: Set<string>;
  /** The reason of each pause by an operator, by the path of its workload; '': of all evictions. */
  readonly pauses: Map<string, string>;
  /** Alerts since the first of these episodes began. */
  alerts: readonly JournalRecord[];
  readonly inFlight: Map<unknown, JournalRecord>;
  ended: readonly JournalRecord[];
  /** The nearest decision with all of its candidates. */
  decision: JournalRecord | undefined;
  /** As in JournalMoment. */
  readonly setBackAfterMs: number | undefined;
}

export async function explainPast(question: PastQuestion, { config }: LoadedConfig, io: Io): Promise<string> {
  const atMs = momentOf(question.at, '--at', Date.now());
  const journal = await openJournal(config);
  try {
    const past = await pastAt(journal, atMs, question.signal);
    const rows = past.decision ? decidedRanking(past.decision, config.departures) : [];
    const seen = await seenAt(past, atMs);
    if (question.output === 'json') return jsonDocument({ ...jsonOf(past, rows, atMs, question.workload), ...seenJson(seen) });
    const time = (each: JournalRecord): string => momentText(Date.parse(each.time), question.utc ?? false);
    return pastText(past, rows, { atMs, time, workload: question.workload, style: styleFor(io), utc: question.utc ?? false, seen });
  } finally {
    await journal.close();
  }
}

/** What evictd read at that time according to its recording, or why that is not known. undefined: evictd did not run. */
async function seenAt({ run }: Past, atMs: number): Promise<RecordedMoment | string | undefined> {
  if (run?.type !== 'start') return undefined;
  const path = textIn(run, 'recording');
  if (path === undefined) return NOT_RECORDED;
  return recordedMoment(path, atMs);
}

const NOT_RECORDED = 'the journal has values only at episodes and decisions; evictd run --record FILE keeps every reading';

function seenJson(seen: RecordedMoment | string | undefined): object {
  if (typeof seen !== 'object') return { readings: null, ...(seen !== undefined && { noReadingsBecause: seen }) };
  const readings = [...seen.observations.observed].map(([signal, { available, capacity }]) => ({
    signal,
    available: jsonInteger(available),
    capacity: jsonInteger(capacity),
  }));
  return { readings: { time: new Date(seen.atMs).toISOString(), signals: readings } };
}

function seenLine(seen: RecordedMoment | string | undefined, utc: boolean): string[] {
  if (seen === undefined) return [];
  if (typeof seen === 'string') return [`  values at that time are not known: ${seen}`];
  return [`  read at ${momentText(seen.atMs, utc)}: ${observedText(seen.observations)}`];
}

function began(past: Past, record: JournalRecord): void {
  past.run = record;
  past.alerts = [];
  past.episodes.clear();
  past.inFlight.clear();
  past.pauses.clear();
}

const listIn = (record: JournalRecord, field: string): readonly unknown[] => {
  const list = objectIn(record, 'resumed')[field];
  return Array.isArray(list) ? list : [];
};

/** A pause as records have it. */
interface RecordedPause {
  readonly workload?: { readonly path: string };
  readonly reason?: unknown;
}

const pausedPath = ({ workload }: RecordedPause): string => workload?.path ?? '';

/** What each record changes. */
const FOLLOW: Readonly<Record<string, (past: Past, record: JournalRecord) => void>> = {
  start: (past, record) => {
    began(past, record);
    past.ended = [];
    past.conditions.clear();
    for (const when of listIn(record, 'thresholds')) past.episodes.set(String(when), record);
    for (const condition of listIn(record, 'conditions')) past.conditions.add(String(condition));
    for (const pause of listIn(record, 'pauses') as readonly RecordedPause[]) past.pauses.set(pausedPath(pause), String(pause.reason));
  },
  stop: began,
  threshold: (past, record) => {
    if (record.met === true) past.episodes.set(whenOf(record), record);
    else past.episodes.delete(whenOf(record));
    if (past.episodes.size === 0) past.alerts = [];
  },
  condition: ({ conditions }, record) => {
    if (record.status === true) conditions.add(wordIn(record, 'condition'));
    else conditions.delete(wordIn(record, 'condition'));
  },
  pause: ({ pauses }, record) => {
    if (record.event === 'begin') pauses.set(pausedPath(record as RecordedPause), wordIn(record, 'reason'));
    else pauses.delete(pausedPath(record as RecordedPause));
  },
  resume: ({ pauses }) => {
    pauses.clear();
  },
  alert: (past, record) => {
    past.alerts = [...past.alerts, record].slice(-LISTED);
  },
  outcome: (past, record) => {
    past.inFlight.delete(record.decision);
    past.ended = [...past.ended, record].slice(-LISTED);
  },
  decision: ({ inFlight }, record) => {
    if (record.dryRun !== true) inFlight.set(record.decision, record);
  },
};

async function pastAt(journal: OpenJournal, atMs: number, signal: ResourceSignal | undefined): Promise<Past> {
  const moment = await momentIn(journal, atMs, Date.now());
  const past: Past = {
    run: undefined,
    episodes: new Map(),
    conditions: new Set(),
    pauses: new Map(),
    alerts: [],
    inFlight: new Map(),
    ended: [],
    decision: undefined,
    setBackAfterMs: moment.setBackAfterMs,
  };
  let nearest: { readonly record: JournalRecord; readonly ranking: FullRanking } | undefined;
  const distance = ({ time }: JournalRecord): number => Math.abs(Date.parse(time) - atMs);
  const isNearer = (record: JournalRecord): boolean =>
    record.type === 'decision' &&
    (signal === undefined || record.signal === signal) &&
    distance(record) <= (nearest ? distance(nearest.record) : NEAR_MS);
  for await (const { record, isEarlier } of recordsUntil(journal, moment, atMs + NEAR_MS)) {
    if (!isEarlier && isNearer(record)) nearest = { record, ranking: new FullRanking() };
    const isPart = record.type === 'decision' || record.type === 'ranking';
    if (nearest && isPart && nearest.record.decision === record.decision) nearest.ranking.take(record);
    if (isEarlier || Date.parse(record.time) <= atMs) FOLLOW[record.type]?.(past, record);
  }
  return { ...past, decision: nearest?.ranking.of(nearest.record) };
}

/** Parts of rankings come a little later than their decision. */
const LATE_MS = 5_000;

/** @returns isEarlier: the wall clock was set back since */
async function* recordsUntil(
  journal: OpenJournal,
  { from, to }: JournalMoment,
  untilMs: number,
): AsyncGenerator<{ readonly record: JournalRecord; readonly isEarlier: boolean }> {
  const until = new Date(untilMs).toISOString();
  const last = new Date(untilMs + LATE_MS).toISOString();
  const wanted = (line: Buffer, isEarlier: boolean): JournalRecord | undefined => {
    const head = isEarlier ? undefined : headOf(line);
    if (head && (head.time > last || (head.time > until && head.type !== 'ranking'))) return undefined;
    return recordOf(line);
  };
  let index = -1;
  for await (const lines of linesOf(journal)) {
    for (const line of lines) {
      index += 1;
      if (index >= to) return;
      const isEarlier = index < from;
      const record = wanted(line, isEarlier);
      if (record) yield { record, isEarlier };
    }
  }
}

/** The threshold as the record of a start names it: 'memory.available<100Mi'. */
function whenOf(record: JournalRecord): string {
  const signal = textIn(record, 'signal') ?? '?';
  return textIn(record, 'when') ?? `${signal}${isSignal(signal) ? operatorOf(signal) : ''}${textIn(record, 'threshold') ?? ''}`;
}

/** Why no workload was evicted at that time. */
function reasonsOf({ run, episodes, pauses, alerts, inFlight, decision }: Past): string[] {
  if (run === undefined) return ['the journal has nothing from before that time: evictd did not run, or the files were deleted'];
  if (run.type === 'stop') return [`evictd did not run: it stopped at ${run.time}`];
  return [
    ...(run.dryRun === true ? ['it was a dry run: it sent no signal'] : []),
    ...[...inFlight.values()].map((each) => `in progress: ${wordIn(each, 'message')}`),
    ...(episodes.size === 0 ? ['no threshold was met'] : []),
    ...[...pauses].map(([path, reason]) => `an operator had paused evictions${path === '' ? '' : ` of ${path}`}: ${reason}`),
    ...alerts.map((each) => `${wordIn(each, 'alert')}: ${wordIn(each, 'message')}`),
    ...(episodes.size > 0 && !pauses.has('') && alerts.length === 0 && inFlight.size === 0 && decision === undefined
      ? [
          'a threshold was met, and no eviction was due: a grace period ran, or the value had recovered, or its minimum reclaim was still owed',
        ]
      : []),
  ];
}

interface PastForm {
  readonly atMs: number;
  readonly time: (record: JournalRecord) => string;
  readonly workload: string | undefined;
  readonly style: Style;
  readonly utc: boolean;
  readonly seen: RecordedMoment | string | undefined;
}

function pastText(past: Past, rows: readonly RankedRow[], { atMs, time, workload, style, utc, seen }: PastForm): string {
  const { run, episodes, conditions, ended, decision, setBackAfterMs } = past;
  const at = momentText(atMs, utc);
  const lines = [
    `at ${at}:`,
    ...(setBackAfterMs === undefined
      ? []
      : [`  the clock was set back after ${momentText(setBackAfterMs, utc)} and showed this time more than once: this is the last`]),
    ...(run?.type === 'start' ? [`  evictd ${wordIn(run, 'version')} ran since ${time(run)}`] : []),
    ...[...episodes].map(([when, each]) =>
      each.type === 'start' ? `  ${when} was met already before that` : `  since ${time(each)}: ${wordIn(each, 'message')}`,
    ),
    ...seenLine(seen, utc),
    ...(conditions.size > 0 ? [`  conditions: ${[...conditions].join(', ')}`] : []),
    ...(decision
      ? [`  decided at ${time(decision)}: ${wordIn(decision, 'message')}`]
      : ['  nothing was decided within a minute of it:', ...reasonsOf(past).map((each) => `    ${each}`)]),
    ...(decision ? past.alerts : []).map((each) => `  alert at ${time(each)}: ${wordIn(each, 'message')}`),
    ...ended.slice(-1).map((each) => `  the last eviction before ended at ${time(each)}: ${wordIn(each, 'message')}`),
  ].map(printable);
  if (decision === undefined) return `${lines.join('\n')}\n`;
  const answer = workload === undefined ? [] : [printable(comparedText(rows, decision, workload))];
  return `${[...lines, ...answer, '', ...rankingTable(rows, style)].join('\n')}\n`;
}

/** 'web was not evicted: batch came before it by priority (batch -10, web 0)'. */
function comparedText(rows: readonly RankedRow[], decision: JournalRecord, wanted: string): string {
  const row = rows.find(({ name, path }) => [name, path, printable(name), printable(path)].includes(wanted));
  const victim = rows.find(({ isVictim }) => isVictim);
  if (row === undefined) {
    const of = integerIn(objectIn(decision, 'counts'), 'ranking') ?? BigInt(rows.length);
    return `${wanted} is not among the ${String(rows.length)} recorded candidates of ${String(of)}: it had no process, was of no workload source, or could not be read`;
  }
  if (row.isVictim) return `${row.name} was evicted: every workload before it was protected, and it comes before the others as shown`;
  if (row.protection !== undefined) return `${row.name} was not evicted: ${row.protection}`;
  const by = row.againstVictim;
  return `${row.name} was not evicted: ${victim?.name ?? 'the victim'} came before it${by ? ` by ${by.comparator} (${by.victim} against ${by.value})` : ''}`;
}

function jsonOf(past: Past, rows: readonly RankedRow[], atMs: number, workload: string | undefined): object {
  const { run, episodes, conditions, alerts, inFlight, ended, decision, setBackAfterMs } = past;
  return {
    at: new Date(atMs).toISOString(),
    run: run ?? null,
    episodes: [...episodes.values()],
    conditions: [...conditions],
    alerts,
    inFlight: [...inFlight.values()],
    ended,
    decision: decision ?? null,
    clockSetBackAfter: setBackAfterMs === undefined ? null : new Date(setBackAfterMs).toISOString(),
    compared: rows.map(({ name, path, place, decidedBy, againstVictim, protection }) => ({
      name,
      path,
      place,
      decidedBy,
      againstVictim,
      protection,
    })),
    nothingBecause: decision ? [] : reasonsOf(past),
    ...(workload !== undefined && decision && { workload: comparedText(rows, decision, workload) }),
  };
}
