import { printable } from '../../core/name/printable.js';
import { compileGlob } from '../../core/workload/glob.js';
import {
  resultOf,
  signalOf,
  timeOf,
  typeOf,
  workloadOf,
  isPart,
  type HistoryEvent,
  headOf,
  recordOf,
  type JournalRecord,
} from '../../journal/reading/history-event.js';
import { InvalidArgumentError } from 'commander';
import { suggestion } from '../../config/value/report.js';
import { DISRUPTION_SIGNAL, POLICY_SIGNAL, STORAGE_LIMIT_SIGNALS } from '../../core/message/eviction-signal.js';
import { SIGNALS } from '../../core/signal/signal.js';
import { errnoName } from '../../errors.js';
import { unreadable, type OpenJournal } from '../../journal/reading/journal-reader.js';
import { linePieces } from '../../journal/reading/journal-lines.js';
import { BackwardJoining, ForwardJoining } from '../../journal/reading/eviction-joining.js';

/** Which events to show. Empty lists and undefined: all. */
export interface HistoryFilter {
  /** The time in the journal's format: UTC with milliseconds. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly workloads: readonly string[];
  readonly signals: readonly string[];
  readonly results: readonly string[];
  readonly types: readonly string[];
  /** Whether to include the types of {@link ON_REQUEST}. */
  readonly all: boolean;
  /** Decisions have all their candidates. false: those near the victim, and the rest is not read. */
  readonly rankings: boolean;
}

/** Types that are shown only on request: they are frequent and affect no workload. */
const ON_REQUEST: ReadonlySet<string> = new Set([
  'start',
  'stop',
  'reload',
  'threshold',
  'condition',
  'reclaim',
  'reclaimed',
  'filesystems',
  'torn',
]);

/** The parts of an eviction count as 'eviction'. */
export function typesOf(types: readonly string[]): readonly string[] {
  return types.map((type) => (isPart(type) ? 'eviction' : type));
}

function matcherOf({ since, until, workloads, signals, results, types, all }: HistoryFilter): (event: HistoryEvent) => boolean {
  const globs = workloads.map(compileGlob);
  const isListed = (list: readonly string[], value: string | undefined): boolean =>
    list.length === 0 || (value !== undefined && list.includes(value));
  return (event) => {
    const time = timeOf(event);
    if ((since !== undefined && time < since) || (until !== undefined && time > until)) return false;
    const type = typeOf(event);
    if (types.length > 0 ? !types.includes(type) : !all && ON_REQUEST.has(type)) return false;
    if (!isListed(signals, signalOf(event)) || !isListed(results, resultOf(event))) return false;
    if (globs.length === 0) return true;
    const { name, path } = workloadOf(event) ?? {};
    return globs.some((glob) => [name, path].some((text) => text !== undefined && (glob.test(text) || glob.test(printable(text)))));
  };
}

/**
 * Whether to parse a line with this time and type. An outcome after `until` may belong to an earlier decision; starts
 * and stops tell whether an eviction without an outcome was in flight.
 */
function relevanceOf({ since, until, types, all, rankings }: HistoryFilter): (time: string, type: string) => boolean {
  return (time, type) => {
    if ((since !== undefined && time < since) || (type === 'ranking' && !rankings)) return false;
    if (type === 'start' || type === 'stop') return true;
    if (until !== undefined && time > until && (type === 'decision' || !isPart(type))) return false;
    if (types.length > 0) return types.includes(isPart(type) ? 'eviction' : type);
    return all || !ON_REQUEST.has(type);
  };
}

/** Results of an eviction, for `--result`. */
export const RESULTS: readonly string[] = [
  'killed',
  'ineffective',
  'failed',
  'vanished',
  'abandoned',
  'lost',
  'unseen',
  'in-flight',
  'dry-run',
];

/** Types of records (docs/journal.md), and 'eviction' for four of them joined. */
export const TYPES: readonly string[] = [
  ...['eviction', 'decision', 'ranking', 'escalation', 'outcome', 'policy', 'hook', 'standing-order'],
  ...['alert', 'kernel-oom', 'error', 'threshold', 'condition', 'reclaim', 'reclaimed', 'release', 'removal', 'restart'],
  ...['holders', 'filesystems', 'shutdown', 'ended'],
  ...['start', 'reload', 'pause', 'resume', 'taint', 'drain', 'reload-refused', 'stop', 'torn', 'oversize'],
];

export const RECORDED_SIGNALS: readonly string[] = [...SIGNALS, ...STORAGE_LIMIT_SIGNALS, POLICY_SIGNAL, DISRUPTION_SIGNAL];

/** Parses an option that is a list and repeatable. @throws InvalidArgumentError  for a word that is not `known` */
export function listOf(known: readonly string[]): (text: string, before: readonly string[]) => readonly string[] {
  return (text, before) => {
    const words = listed(text);
    const wrong = words.find((word) => !known.includes(word));
    if (wrong !== undefined) throw new InvalidArgumentError(`'${wrong}': ${suggestion(wrong, known)}`);
    return [...before, ...words];
  };
}

/** 'a, b' */
export function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** Counts of the lines that were read. */
export interface ReadingTally {
  records: number;
  /** Records by type. */
  readonly types: Map<string, number>;
  /** Lines that are not records, by file. */
  readonly unreadable: Map<string, number>;
}

const RECENT = 'the runtime directory';

/**
 * Yields the matching events, oldest or newest first, while it reads. Memory does not grow with the journal.
 *
 * @param onRecord  gets every parsed record, also if it does not match
 */
export async function* historyOf(
  journal: OpenJournal,
  filter: HistoryFilter,
  backwards: boolean,
  tally: ReadingTally,
  onRecord: (record: JournalRecord) => void = () => undefined,
): AsyncGenerator<readonly HistoryEvent[], void> {
  const matches = matcherOf(filter);
  const isRelevant = relevanceOf(filter);
  const joining = backwards ? new BackwardJoining() : new ForwardJoining(filter.rankings);
  const take = (line: Buffer, path: string): readonly HistoryEvent[] => {
    const head = headOf(line);
    const record = relevantRecord(line, head, isRelevant);
    if (record === 'none') tally.unreadable.set(path, (tally.unreadable.get(path) ?? 0) + 1);
    else {
      const type = head?.type ?? (typeof record === 'object' ? record.type : 'unknown');
      tally.records += 1;
      tally.types.set(type, (tally.types.get(type) ?? 0) + 1);
    }
    if (typeof record !== 'object') return [];
    onRecord(record);
    return joining.take(record).filter(matches);
  };
  const recent = (): HistoryEvent[] => (backwards ? journal.recent.toReversed() : journal.recent).flatMap((line) => take(line, RECENT));
  if (backwards) yield recent();
  for (const { path, file, size } of backwards ? journal.files.toReversed() : journal.files) {
    try {
      for await (const { lines, lost } of linePieces(file, size, backwards)) {
        if (lost > 0) tally.unreadable.set(path, (tally.unreadable.get(path) ?? 0) + lost);
        yield lines.flatMap((line) => take(line, path));
      }
    } catch (error) {
      throw errnoName(error) === undefined ? error : unreadable(path, error);
    }
  }
  if (!backwards) yield recent();
  yield joining.end().filter(matches);
}

/** 'none': the line is not a record. 'other': an irrelevant record. */
function relevantRecord(
  line: Buffer,
  head: ReturnType<typeof headOf>,
  isRelevant: (time: string, type: string) => boolean,
): JournalRecord | 'none' | 'other' {
  if (head && !isRelevant(head.time, head.type)) return line.at(-1) === CLOSING ? 'other' : 'none';
  const record = recordOf(line);
  if (record === undefined) return 'none';
  return head || isRelevant(record.time, record.type) ? record : 'other';
}

const CLOSING = '}'.charCodeAt(0);
