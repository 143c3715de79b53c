import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../directory.js';

export const JOURNAL_FILE = 'journal.jsonl';
const QUEUE_LIMIT_BYTES = 16 * 1024 * 1024;
const BATCH_BYTES = 256 * 1024;
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
}

/**
 * Takes records to JSON Lines in the state directory, on libuv's pool: a full, read-only or hung directory keeps one pool thread busy at most
 * and delays nobody. Records wait in memory, up to 16 MiB; beyond that the oldest are lost, counted, and may still be in the ring.
 */
export class JournalWriter {
  readonly #directory: string;
  readonly #events: JournalWriterEvents;
  #queue: QueuedRecord[] = [];
  #queuedBytes = 0;
  #file: FileHandle | undefined;
  /** The file ends in the middle of a line: the next write starts a new one. */
  #torn = false;
  #working: Promise<void> | undefined;
  #soon = false;
  #retryMs = RETRY_FIRST_MS;
  #retry: NodeJS.Timeout | undefined;
  #busySinceMs: number | undefined;

  constructor(directory: string, events: JournalWriterEvents) {
    this.#directory = directory;
    this.#events = events;
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
    await this.#close();
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
        return this.#close();
      },
    );
  }

  #done(): void {
    this.#working = undefined;
    this.#busySinceMs = undefined;
  }

  async #drain(): Promise<void> {
    if (this.#file === undefined) {
      await makeDirectory(this.#directory, 0o750);
      const path = join(this.#directory, JOURNAL_FILE);
      this.#file = await open(path, 'a', 0o640);
      this.#torn = await endsInTheMiddle(path);
    }
    const batch = this.#queue.slice(0, batchLength(this.#queue));
    const text = (this.#torn ? '\n' : '') + batch.map((record) => `${record.text}\n`).join('');
    const { size } = await this.#file.stat();
    try {
      await this.#file.appendFile(text);
    } catch (error) {
      await this.#file.truncate(size); // a full disk takes a part: without it the whole batch follows later
      throw error;
    }
    this.#torn = false;
    const last = batch.at(-1)?.sequence ?? 0n;
    this.#queue = this.#queue.filter((record) => record.sequence > last);
    this.#queuedBytes = this.#queue.reduce((sum, record) => sum + record.text.length, 0);
    this.#events.written(last);
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }
}

/** How many records make one write: at least one, and about 256 KiB. */
function batchLength(queue: readonly QueuedRecord[]): number {
  let bytes = 0;
  const beyond = queue.findIndex((record) => (bytes += record.text.length) > BATCH_BYTES);
  return beyond === -1 ? queue.length : Math.max(beyond, 1);
}

async function endsInTheMiddle(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (stat.size === 0) return false;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, stat.size - 1);
    return buffer[0] !== 0x0a;
  } finally {
    await file.close();
  }
}
