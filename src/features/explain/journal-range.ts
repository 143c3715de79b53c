import { headOf } from '../../journal/reading/history-event.js';
import type { OpenJournal } from '../../journal/reading/journal-reader.js';
import { linePieces } from '../../journal/reading/journal-lines.js';

/** Lines of the journal, which is in the order of what happened, between two times at which the wall clock was set back. */
export interface JournalRange {
  /** Index of its first line, and of the first one after it. */
  readonly from: number;
  readonly to: number;
  /** The earliest and the latest time of its records, since 1970. */
  readonly beganMs: number;
  readonly endedMs: number;
}

/** The place of a time in the journal. */
export interface JournalMoment extends JournalRange {
  /** The wall clock showed that time more than once, and was set back after this one. undefined: once. */
  readonly setBackAfterMs: number | undefined;
}

/** Records of several evictds, and of a standing order, may be out of order by less than that. */
const SET_BACK_MS = 60_000;

/** The lines from the oldest to the newest. */
export async function* linesOf({ files, recent }: OpenJournal): AsyncGenerator<readonly Buffer[]> {
  for (const { file, size } of files) {
    for await (const { lines } of linePieces(file, size, false)) yield lines;
  }
  yield recent;
}

/** The last stretch in which the wall clock showed that time. */
export async function momentIn(journal: OpenJournal, atMs: number, nowMs: number): Promise<JournalMoment> {
  const stretches = await stretchesOf(journal);
  const last = stretches.at(-1);
  const isIn = (one: JournalRange): boolean => one.beganMs <= atMs && (atMs <= one.endedMs || (one === last && atMs <= nowMs));
  const found = stretches.findLast(isIn) ?? stretches.findLast(({ beganMs }) => beganMs <= atMs) ?? stretches[0];
  if (found === undefined) return { from: 0, to: 0, beganMs: 0, endedMs: 0, setBackAfterMs: undefined };
  const before = stretches[stretches.indexOf(found) - 1];
  const isAmbiguous = stretches.some((other) => other !== found && isIn(other));
  return { ...found, setBackAfterMs: isAmbiguous ? before?.endedMs : undefined };
}

async function stretchesOf(journal: OpenJournal): Promise<readonly JournalRange[]> {
  const stretches: JournalRange[] = [];
  let index = 0;
  let now: JournalRange | undefined;
  for await (const lines of linesOf(journal)) {
    for (const line of lines) {
      const head = headOf(line);
      const timeMs = head === undefined ? NaN : Date.parse(head.time);
      if (now !== undefined && timeMs < now.endedMs - SET_BACK_MS) {
        stretches.push(now);
        now = undefined;
      }
      if (now !== undefined) now = { ...now, to: index + 1, endedMs: Math.max(now.endedMs, timeMs || now.endedMs) };
      else if (!Number.isNaN(timeMs)) now = { from: index, to: index + 1, beganMs: timeMs, endedMs: timeMs };
      index += 1;
    }
  }
  return now === undefined ? stretches : [...stretches, now];
}
