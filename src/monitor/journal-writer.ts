import type { JournalFiles } from './journal-files.js';

const QUEUE_LIMIT_BYTES = 16 * 1024 * 1024;
const BATCH_BYTES = 256 * 1024;
/** What others may have written since. */
const SLACK_BYTES = 64 * 1024;
const RETRY_FIRST_MS = 1_000;
const RETRY_MOST_MS = 60_000;

export interface QueuedRecord {
  readonly sequence: bigint;
  readonly text: string;
}

export interface JournalWriterEvents {
  /** The file has everything up to this record. */
  written(sequence: bigint): void;
  failed(error: Error): void;
  lost(records: number): void;
  /** The file ends with so many bytes of a line that was cut off. Returns the record that says so, and comes behind it. */
  torn(bytes: number): string;
  /** Whether space was reserved; undefined: it was. */
  reserved(failure: Error | undefined): void;
}

/**
 * Takes records to JSON Lines in the state directory, on libuv's pool: a full, read-only or hung directory keeps one pool thread busy at most
 * and delays nobody. Records wait in memory, up to 16 MiB; beyond that the oldest are lost, counted, and may still be in the ring.
 */
export class JournalWriter {
  readonly #files: JournalFiles;
  readonly #events: JournalWriterEvents;
  #queue: QueuedRecord[] = [];
  #queuedBytes = 0;
  /** Records some of which may be in the file: of a run before, or of a write that failed. */
  readonly #doubtful: Set<bigint>;
  #working: Promise<void> | undefined;
  #soon = false;
  #retryMs = RETRY_FIRST_MS;
  #retry: NodeJS.Timeout | undefined;
  #busySinceMs: number | undefined;

  /** @param recovered  of a run before, the oldest first; what of it is in the file already is not written again */
  constructor(files: JournalFiles, recovered: readonly QueuedRecord[], events: JournalWriterEvents) {
    this.#files = files;
    this.#events = events;
    this.#doubtful = new Set(recovered.map(({ sequence }) => sequence));
    for (const record of recovered) this.push(record);
  }

  push(record: QueuedRecord): void {
    this.#queue.push(record);
    this.#queuedBytes += record.text.length;
    let lost = 0;
    while (this.#queuedBytes > QUEUE_LIMIT_BYTES && this.#queue.length > 1) {
      this.#queuedBytes -= this.#queue.shift()?.text.length ?? 0;
      lost += 1;
    }
    if (lost > 0) this.#events.lost(lost);
    if (this.#retry !== undefined || this.#soon) return;
    this.#soon = true; // not now: this is the path of an eviction
    setImmediate(() => {
      this.#soon = false;
      this.#work();
    });
  }

  /** For how long a single operation has been waiting for the directory, in milliseconds; 0: none is. */
  get waitingMs(): number {
    return this.#busySinceMs === undefined ? 0 : performance.now() - this.#busySinceMs;
  }

  /** Waits until everything is written or `timeoutMs` has passed; tells whether it is, and that no operation is under way. */
  async flush(timeoutMs: number): Promise<boolean> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, 'late');
    });
    this.#work();
    // A drain takes what was there when it began. After a failure the next one waits for its time, which is too late here.
    let late = false;
    while (this.#working !== undefined && !late) {
      late = (await Promise.race([this.#working, timeout])) === 'late';
    }
    clearTimeout(timer);
    clearTimeout(this.#retry);
    if (this.#working !== undefined) return false;
    await this.#files.close();
    return this.#queue.length === 0;
  }

  #work(): void {
    if (this.#working !== undefined || this.#queue.length === 0 || this.#retry !== undefined) return;
    this.#busySinceMs = performance.now();
    this.#working = this.#drain().then(
      () => {
        this.#done();
        this.#retryMs = RETRY_FIRST_MS;
        this.#work();
      },
      (error: unknown) => {
        this.#done();
        this.#events.failed(error instanceof Error ? error : new Error(String(error)));
        this.#retry = setTimeout(() => {
          this.#retry = undefined;
          this.#work();
        }, this.#retryMs).unref();
        this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MOST_MS);
      },
    );
  }

  #done(): void {
    this.#working = undefined;
    this.#busySinceMs = undefined;
  }

  async #drain(): Promise<void> {
    try {
      const torn = await this.#files.open();
      if (this.#doubtful.size > 0) await this.#dropWhatIsThere();
      const batch = this.#queue.slice(0, batchLength(this.#queue));
      const mark = torn === 0 ? '' : `\n${this.#events.torn(torn)}\n`;
      const text = mark + batch.map((record) => `${record.text}\n`).join('');
      for (const { sequence } of batch) this.#doubtful.add(sequence);
      if (text !== '') await this.#files.append(text);
      this.#doubtful.clear();
      this.#wrote(batch.at(-1)?.sequence);
    } catch (error) {
      await this.#files.close();
      throw error;
    }
    await this.#files.prepare();
    this.#events.reserved(this.#files.unreserved);
  }

  /** evictd may have been killed after it had written them and before it had noted that; a full disk may have taken some of them. */
  async #dropWhatIsThere(): Promise<void> {
    const doubtful = this.#queue.filter(({ sequence }) => this.#doubtful.has(sequence));
    const bytes = doubtful.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
    const there = await this.#files.lastLines(bytes + SLACK_BYTES);
    this.#doubtful.clear();
    this.#queue = this.#queue.filter((record) => !doubtful.includes(record) || !there.has(record.text));
    const next = this.#queue[0]?.sequence;
    if (next === undefined) this.#wrote(doubtful.at(-1)?.sequence);
  }

  #wrote(last: bigint | undefined): void {
    if (last === undefined) return;
    this.#queue = this.#queue.filter((record) => record.sequence > last);
    this.#queuedBytes = this.#queue.reduce((sum, record) => sum + record.text.length, 0);
    this.#events.written(last);
  }
}

/** How many records make one write: at least one, and about 256 KiB. */
function batchLength(queue: readonly QueuedRecord[]): number {
  let bytes = 0;
  const beyond = queue.findIndex((record) => (bytes += record.text.length) > BATCH_BYTES);
  return beyond === -1 ? queue.length : Math.max(beyond, 1);
}
