import { join } from 'node:path';
import type { JournalRecord } from './record.js';
import { JournalWriter } from './journal-writer.js';
import { Ring } from './ring.js';

const RING_BYTES = 4 * 1024 * 1024;

export interface JournalOptions {
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  /** Tells the journals of several nodes apart in one runtime directory. */
  readonly instance: string;
  readonly node: string;
  readonly onError: (error: Error) => void;
  readonly onLost: (records: number) => void;
}

/**
 * Where decisions and what came of them are kept. `record` returns when the record stands in the ring on tmpfs; the state directory follows in
 * its own time.
 */
export class Journal {
  readonly #ring: Ring;
  readonly #writer: JournalWriter;
  readonly #options: JournalOptions;
  /** How many records an earlier run had left behind. */
  readonly recovered: number;
  #closed = false;
  errors = 0;
  lost = 0;

  /** Throws Node's errors where the runtime directory cannot hold the ring. */
  constructor(options: JournalOptions) {
    this.#options = options;
    this.#ring = new Ring(join(options.runtimeDirectory, `journal-${options.instance}`), RING_BYTES);
    this.#writer = new JournalWriter(options.stateDirectory, {
      written: (sequence) => {
        if (this.#closed) return;
        this.#guarded(() => {
          this.#ring.drained(sequence);
        });
      },
      failed: (error) => {
        this.#failed(error);
      },
      lost: (records) => {
        this.lost += records;
        options.onLost(records);
      },
    });
    this.recovered = this.#ring.undrained.length;
    this.#ring.undrained.forEach((record) => {
      this.#writer.push(record);
    });
  }

  /** Never throws: an eviction does not wait for a journal that has failed. */
  record(record: JournalRecord): void {
    const { type, ...rest } = record;
    const text = JSON.stringify({ time: new Date().toISOString(), type, node: this.#options.node, ...rest });
    this.#guarded(() => {
      this.#ring.append(text);
    });
    this.#writer.push({ sequence: this.#ring.sequence, text });
  }

  /** For how long the state directory has not answered, in milliseconds; 0: it answers. */
  get waitingMs(): number {
    return this.#writer.waitingMs;
  }

  /** Whether everything is in the state directory, after at most `timeoutMs`; false also when a thread hangs in it. */
  async close(timeoutMs: number): Promise<boolean> {
    const written = await this.#writer.flush(timeoutMs);
    this.#closed = true;
    this.#ring.close();
    return written;
  }

  #guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#failed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #failed(error: Error): void {
    this.errors += 1;
    this.#options.onError(error);
  }
}
