import { errnoName } from '../../errors.js';
import { matcherOf, relevanceOf, type Asked } from './asked.js';
import type { HistoryEvent } from './history-event.js';
import { unreadable, type OpenJournal } from './journal-files.js';
import { linePieces } from './journal-lines.js';
import { headOf, recordOf, type JournalRecord } from './journal-record.js';
import { BackwardJoining, ForwardJoining } from './joining.js';

/** What was met on the way. */
export interface ReadingTally {
  /** Lines that are records, whether or not they were asked for. */
  records: number;
  /** Lines that are none, by the file they stand in. */
  readonly unreadable: Map<string, number>;
}

const RECENT = 'the runtime directory';

/**
 * The events that were asked for, in the order of the journal or against it; each piece as soon as it is known. Memory does not grow with the journal.
 *
 * @param saw  is told of every record that may matter, whether or not it is one of those
 */
export async function* historyOf(
  journal: OpenJournal,
  asked: Asked,
  backwards: boolean,
  tally: ReadingTally,
  saw: (record: JournalRecord) => void = () => undefined,
): AsyncGenerator<readonly HistoryEvent[], void> {
  const matches = matcherOf(asked);
  const isRelevant = relevanceOf(asked);
  const joining = backwards ? new BackwardJoining() : new ForwardJoining();
  const take = (line: Buffer, path: string): readonly HistoryEvent[] => {
    const record = relevantRecord(line, isRelevant);
    if (record === 'none') tally.unreadable.set(path, (tally.unreadable.get(path) ?? 0) + 1);
    else tally.records += 1;
    if (typeof record !== 'object') return [];
    saw(record);
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

/** 'none': the line is no record. 'other': it is one that nobody asked for. */
function relevantRecord(line: Buffer, isRelevant: (time: string, type: string) => boolean): JournalRecord | 'none' | 'other' {
  const head = headOf(line);
  if (head && !isRelevant(head.time, head.type)) return line.at(-1) === CLOSING ? 'other' : 'none';
  const record = recordOf(line);
  if (record === undefined) return 'none';
  return head || isRelevant(record.time, record.type) ? record : 'other';
}

const CLOSING = '}'.charCodeAt(0);
