import type { JsonObject } from '../../core/name/json-text.js';
import { objectIn, type JournalRecord } from './history-event.js';

/** Fields of a `ranking` record that are its own. All others complete those of its decision. */
const OWN: ReadonlySet<string> = new Set(['time', 'type', 'node', 'dryRun', 'decision', 'part', 'parts', 'victim', 'ranking', 'message']);

/** The candidates of one decision, from its record and the `ranking` records that follow it, in any order. */
export class FullRanking {
  /** Rows by place. */
  readonly #rows = new Map<unknown, JsonObject>();
  readonly #parts = new Set<unknown>();
  #count: unknown;
  #due = 1;
  #lists: JsonObject = {};
  #hasEnded = false;

  take(record: JournalRecord): void {
    const { ranking } = record;
    for (const row of Array.isArray(ranking) ? (ranking as readonly (JsonObject | null)[]) : []) if (row) this.#rows.set(row.place, row);
    if (record.type === 'decision') {
      this.#count = objectIn(record, 'counts').ranking;
      return;
    }
    this.#parts.add(record.part);
    this.#due = Number(record.parts);
    this.#lists = { ...this.#lists, ...Object.fromEntries(Object.entries(record).filter(([name]) => !OWN.has(name))) };
  }

  /** No more records come. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Whether all candidates have come, or will not come any more. A decision of an older evictd has them itself. */
  get isWhole(): boolean {
    if (this.#hasEnded || typeof this.#count !== 'number') return true;
    return this.#parts.size === 0 ? this.#rows.size >= this.#count : this.#parts.size >= this.#due;
  }

  /** The decision with the candidates that are known. */
  of(decision: JournalRecord): JournalRecord {
    if (this.#parts.size === 0) return decision;
    const rows = [...this.#rows.values()].sort((a, b) => Number(a.place) - Number(b.place));
    return { ...decision, ...this.#lists, ranking: rows };
  }
}
