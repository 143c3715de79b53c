import { errnoName } from '../../errors.js';
import { matcherOf, relevanceOf, type HistoryFilter } from './history-query.js';
import type { HistoryEvent } from './history-event.js';
import { unreadable, type OpenJournal } from './journal-reader.js';
import { linePieces } from './journal-lines.js';
import { headOf, recordOf, type JournalRecord } from './journal-entry.js';
import { BackwardJoining, ForwardJoining } from './eviction-joining.js';

/** Counts of the lines that were read. */
export interface ReadingTally {
  records: number;
  /** Lines that are no records, by file. */
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
  const joining = backwards ? new BackwardJoining() : new ForwardJoining();
  const take = (line: Buffer, path: string): readonly HistoryEvent[] => {
    const record = relevantRecord(line, isRelevant);
    if (record === 'none') tally.unreadable.set(path, (tally.unreadable.get(path) ?? 0) + 1);
    else tally.records += 1;
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

/** 'none': the line is no record. 'other': an irrelevant record. */
function relevantRecord(line: Buffer, isRelevant: (time: string, type: string) => boolean): JournalRecord | 'none' | 'other' {
  const head = headOf(line);
  if (head && !isRelevant(head.time, head.type)) return line.at(-1) === CLOSING ? 'other' : 'none';
  const record = recordOf(line);
  if (record === undefined) return 'none';
  return head || isRelevant(record.time, record.type) ? record : 'other';
}

const CLOSING = '}'.charCodeAt(0);
