import { AppendQueue } from '../storage/append-queue.js';
import type { Turns } from '../storage/turns.js';
import type { JournalFiles } from './journal-files.js';

const QUEUE_LIMIT_BYTES = 16 * 1024 * 1024;
const BATCH_BYTES = 256 * 1024;
/** Space for bytes that other processes may have written since. */
const SLACK_BYTES = 64 * 1024;

export interface QueuedRecord {
  readonly sequence: bigint;
  readonly text: string;
}

export interface JournalWriterEvents {
  /** The file has every record up to this one. */
  written(sequence: bigint): void;
  failed(error: Error): void;
  lost(records: number): void;
  /**
   * The file ends with so many bytes of a line that was cut off. Returns the record that says so, which is written
   * behind it.
   */
  torn(bytes: number): string;
  /** The result of reserving space; undefined: it is reserved. */
  reserved(failure: Error | undefined): void;
}

/**
 * Writes records to JSON Lines in the state directory. Up to 16 MiB of them wait in memory; beyond that the oldest are
 * lost, counted, and may still be in the ring.
 */
export class JournalWriter {
  readonly #queue: AppendQueue<QueuedRecord>;
  /** Records that may be in the file already: of a run before, or of a write that failed. */
  #doubtful: ReadonlySet<bigint>;
  /** The first one of the write under way. */
  #writing: bigint | undefined;

  /**
   * @param recovered  of a run before, the oldest first; those that are in the file already are not written again
   * @param turns  of the directory
   */
  constructor(
    private readonly files: JournalFiles,
    recovered: readonly QueuedRecord[],
    private readonly events: JournalWriterEvents,
    turns: Turns,
  ) {
    this.#doubtful = new Set(recovered.map(({ sequence }) => sequence));
    this.#queue = new AppendQueue({
      limit: QUEUE_LIMIT_BYTES,
      weigh: ({ text }) => text.length,
      gatherMs: 0,
      write: () => turns.take(() => this.#write()),
      dropped: (records) => {
        events.lost(records.length);
      },
      failed: (error) => {
        events.failed(error);
      },
    });
    for (const record of recovered) this.push(record);
  }

  push(record: QueuedRecord): void {
    this.#queue.push(record);
  }

  /** The oldest record that the files may lack; undefined: they have all. */
  get oldestWaiting(): bigint | undefined {
    return this.#writing ?? this.#queue.list()[0]?.sequence;
  }

  /** How long the directory has not answered, in milliseconds; 0: nothing is asked of it. */
  get waitingMs(): number {
    return this.#queue.waitingMs;
  }

  /** Returns whether everything is written, after at most `timeoutMs`. */
  async flush(timeoutMs: number): Promise<boolean> {
    const isWritten = await this.#queue.flush(timeoutMs);
    if (this.waitingMs === 0) await this.files.close();
    return isWritten;
  }

  async #write(): Promise<void> {
    try {
      const torn = await this.files.open();
      if (this.#doubtful.size > 0) await this.#dropWritten();
      await this.#append(torn === 0 ? '' : `\n${this.events.torn(torn)}\n`);
    } catch (error) {
      await this.files.close();
      throw error;
    }
    await this.files.prepare();
    this.events.reserved(this.files.unreserved);
  }

  async #append(mark: string): Promise<void> {
    const batch = this.#queue.take(BATCH_BYTES);
    const text = mark + batch.map((record) => `${record.text}\n`).join('');
    this.#writing = batch[0]?.sequence;
    try {
      if (text !== '') await this.files.append(text);
    } catch (error) {
      this.#writing = undefined;
      this.#doubtful = new Set(batch.map(({ sequence }) => sequence));
      this.#queue.putBack(batch);
      throw error;
    }
    this.#writing = undefined;
    const last = batch.at(-1);
    if (last !== undefined) this.events.written(last.sequence);
  }

  /**
   * evictd may have been killed after it wrote records and before it noted that; a full disk may have taken some of a
   * batch.
   */
  async #dropWritten(): Promise<void> {
    const doubtful = this.#doubtful;
    const records = this.#queue.list().filter(({ sequence }) => doubtful.has(sequence));
    const bytes = records.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
    const written = await this.files.lastLines(bytes + SLACK_BYTES);
    this.#doubtful = new Set();
    this.#queue.retain(({ sequence, text }) => !doubtful.has(sequence) || !written.has(text));
    const last = records.at(-1);
    if (last !== undefined && this.#queue.list().length === 0) this.events.written(last.sequence);
  }
}
