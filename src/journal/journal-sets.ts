import { Turns } from '../storage/turns.js';
import { isKeptRecord } from './kept-records.js';
import type { JournalFiles } from './journal-files.js';
import { JournalWriter, type JournalWriterEvents, type QueuedRecord } from './journal-flush.js';

/** The files in the state directory. */
export interface JournalSet {
  /** Every record. */
  readonly all: JournalFiles;
  /** The records that other ones may not push out. */
  readonly kept: JournalFiles;
}

/**
 * Writes every record to one set of files, and those that are kept to a second one. Each has its own queue, so that
 * other records neither push a decision out of its files nor out of memory.
 */
export class JournalSets {
  readonly #all: JournalWriter;
  readonly #kept: JournalWriter;

  /**
   * @param recovered  of a run before, the oldest first; those that are in the files already are not written again
   * @param turns  of the directory; one set rotates at a time, too
   */
  constructor({ all, kept }: JournalSet, recovered: readonly QueuedRecord[], events: JournalWriterEvents, turns = new Turns()) {
    let newest = recovered.at(-1)?.sequence ?? 0n;
    const each: JournalWriterEvents = {
      ...events,
      written: (sequence) => {
        if (sequence > newest) newest = sequence;
        const oldest = this.#oldestWaiting;
        events.written(oldest === undefined ? newest : oldest - 1n);
      },
    };
    this.#all = new JournalWriter(all, recovered, each, turns);
    const recoveredKept = recovered.filter(({ text }) => isKeptRecord(text));
    this.#kept = new JournalWriter(kept, recoveredKept, each, turns);
  }

  push(record: QueuedRecord): void {
    this.#all.push(record);
    if (isKeptRecord(record.text)) this.#kept.push(record);
  }

  /** How long the directory has not answered, in milliseconds; 0: nothing is asked of it. */
  get waitingMs(): number {
    return Math.max(this.#all.waitingMs, this.#kept.waitingMs);
  }

  /** Returns whether everything is written, after at most `timeoutMs`. */
  async flush(timeoutMs: number): Promise<boolean> {
    const written = await Promise.all([this.#all.flush(timeoutMs), this.#kept.flush(timeoutMs)]);
    return written.every(Boolean);
  }

  get #oldestWaiting(): bigint | undefined {
    const [all, kept] = [this.#all.oldestWaiting, this.#kept.oldestWaiting];
    return all === undefined || (kept !== undefined && kept < all) ? kept : all;
  }
}
