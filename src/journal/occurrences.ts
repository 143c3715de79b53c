import type { JsonObject } from '../core/name/json-text.js';
import type { JournalRecord } from './records/record.js';

/** A series ends when it has had no record for this time. */
const SERIES_MS = 60 * 60 * 1000;
/** The maximum number of series. Beyond it the series that has had no record for the longest time is forgotten. */
const MAX_SERIES = 1_000;

interface Series {
  readonly count: number;
  readonly lastMs: number;
}

/**
 * Numbers the records of an event that comes again and again: evictions of one workload, OOM kills in one cgroup for lack
 * of memory of the node, starts of evictd. The file of evictions keeps only some of them (kept-records.ts).
 */
export class Occurrences {
  /** Series by subject; the one with the newest record is last. */
  readonly #series = new Map<string, Series>();
  /** The occurrence of decisions in flight, by number of the decision; first occurrences are left out. */
  readonly #decisions = new Map<unknown, number>();

  /** The record with its number in `occurrence`, unless it is the first one. An outcome has the number of its decision. */
  numbered(record: JournalRecord, nowMs: number): JournalRecord {
    const subject = subjectOf(record);
    const count = this.#countOf(record, subject, nowMs);
    this.#note(record, subject, { count, lastMs: nowMs });
    return withOccurrence(record, count);
  }

  /** The record as `numbered` would return it now. It is not counted. */
  prepared(record: JournalRecord, nowMs: number): JournalRecord {
    return withOccurrence(record, this.#countOf(record, subjectOf(record), nowMs));
  }

  /** A record of an earlier run, which has its number. */
  restore(record: JsonObject): void {
    const { occurrence = 1, time } = record;
    this.#note(record, subjectOf(record), { count: Number(occurrence), lastMs: Date.parse(time as string) });
  }

  #countOf({ decision }: JournalRecord, subject: string | undefined, nowMs: number): number {
    if (subject === undefined) return this.#decisions.get(decision) ?? 1;
    const last = this.#series.get(subject);
    return isOver(last, nowMs) ? 1 : last.count + 1;
  }

  #note({ type, decision }: JsonObject, subject: string | undefined, series: Series): void {
    if (type === 'outcome') this.#decisions.delete(decision);
    if (type === 'decision' && series.count > 1) put(this.#decisions, decision, series.count);
    if (subject !== undefined) put(this.#series, subject, series);
  }
}

function withOccurrence(record: JournalRecord, count: number): JournalRecord {
  return count === 1 ? record : { ...record, occurrence: count };
}

/** The subject whose n-th record it is; undefined: it is not counted. */
function subjectOf({ type, victim, limit, cgroup }: JsonObject): string | undefined {
  switch (type) {
    case 'start':
      return type;
    case 'decision':
      return JSON.stringify([type, (victim as JsonObject | undefined)?.path]);
    case 'kernel-oom':
      return limit === 'node' ? JSON.stringify([type, cgroup]) : undefined;
    default:
      return undefined;
  }
}

/** A clock that was set back ends no series. */
function isOver(last: Series | undefined, nowMs: number): last is undefined {
  return last === undefined || nowMs - last.lastMs > SERIES_MS;
}

function put<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_SERIES && oldest !== undefined) map.delete(oldest);
}
