import { setTimeout as pause } from 'node:timers/promises';
import type { Io } from '../../cli/output/io.js';
import { styleFor } from '../../cli/output/style.js';
import { evictionKey, firstOf, resultOf, timeOf, type HistoryEvent } from '../../journal/reading/history-event.js';
import { NoJournalError, openJournal, type JournalPlace } from '../../journal/reading/journal-reader.js';
import { historyOf, type HistoryFilter } from './history-query.js';
import { eventLine } from './output/history-output.js';

const EVERY_MS = 500;
/** An eviction that began before `sinceMs` may end after it. */
const LONGEST_MS = 600_000;

/**
 * Shows events as they come, an eviction when it is over. Reads the end of the journal again and again, from the first
 * event that is not over. Ends when the output takes no more.
 */
export async function follow(
  io: Io,
  place: JournalPlace,
  filter: HistoryFilter,
  { utc = false, ranking = false }: { readonly utc?: boolean; readonly ranking?: boolean },
  sinceMs: number,
): Promise<void> {
  const since = new Date(sinceMs).toISOString();
  let from = new Date(sinceMs - LONGEST_MS).toISOString();
  const shown = new Set<string>();
  const wasInFlight = new Set<string>();
  while ((await io.stdoutTaken?.()) !== false) {
    const events = await eventsSince(place, filter, from);
    const isOver = (event: HistoryEvent): boolean => resultOf(event) !== 'in-flight';
    for (const event of events) {
      const key = keyOf(event);
      if (!isOver(event) || shown.has(key)) continue;
      shown.add(key);
      if (timeOf(event) >= since || wasInFlight.has(key)) io.stdout(eventLine(event, styleFor(io), utc, ranking));
    }
    for (const event of events) if (!isOver(event)) wasInFlight.add(keyOf(event));
    const known = new Set(events.map(keyOf));
    for (const keys of [shown, wasInFlight]) for (const key of keys) if (!known.has(key)) keys.delete(key);
    from = events.filter((event) => !isOver(event)).map(timeOf)[0] ?? events.map(timeOf).at(-1) ?? from;
    await pause(EVERY_MS);
  }
}

function keyOf(event: HistoryEvent): string {
  return event.kind === 'record' ? JSON.stringify(event.record) : evictionKey(firstOf(event) ?? { time: '', type: '' });
}

/** The oldest first. */
async function eventsSince(place: JournalPlace, filter: HistoryFilter, from: string): Promise<HistoryEvent[]> {
  const found: HistoryEvent[] = [];
  let journal;
  try {
    journal = await openJournal(place);
  } catch (error) {
    if (error instanceof NoJournalError) return [];
    throw error;
  }
  try {
    for await (const events of historyOf(journal, filter, true, { records: 0, types: new Map(), unreadable: new Map() })) {
      found.push(...events.filter((event) => timeOf(event) >= from));
      if (events.some((event) => timeOf(event) < from)) break;
    }
  } finally {
    await journal.close();
  }
  return found.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) === timeOf(b) ? 0 : 1));
}
