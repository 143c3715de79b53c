import { open, rename, stat, type FileHandle } from 'node:fs/promises';
import { errnoName } from '../../errors.js';
import { Compressor } from './compressor.js';

export interface RecordingLimits {
  /** Of both files together, as compressed. */
  readonly maxBytes: number;
  /** Nothing is kept that is older. */
  readonly maxAgeMs: number;
}

/**
 * FILE, and FILE.1 that was before it. Half of what may be kept is in each, so that there is always at least that much. What an earlier run left
 * becomes FILE.1. Nothing is forced to the disk: what was written survives a kill, not a power cut.
 */
export class RecordingFile {
  readonly #path: string;
  readonly #limits: RecordingLimits;
  readonly #compressor = new Compressor();
  #file: FileHandle | undefined;
  #offset = 0;
  /** Compressed, and not in the file yet: where a write has failed, it is tried again. */
  #pending: Buffer = Buffer.alloc(0);
  readonly #begunMs = performance.now();

  constructor(path: string, limits: RecordingLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  /** Half of what may be kept is in it: it is another's turn. */
  get isFull(): boolean {
    return this.#offset * 2 >= this.#limits.maxBytes || (performance.now() - this.#begunMs) * 2 >= this.#limits.maxAgeMs;
  }

  /** Rejects where it cannot be written now; the text is kept, so continue with {@link retry}. */
  async write(text: string): Promise<void> {
    this.#pending = Buffer.concat([this.#pending, await this.#compressor.add(text)]);
    await this.retry();
  }

  /** Writes what was not taken. */
  async retry(): Promise<void> {
    this.#file ??= await this.#open();
    while (this.#pending.length > 0) {
      const { bytesWritten } = await this.#file.write(this.#pending, 0, this.#pending.length, this.#offset);
      this.#offset += bytesWritten;
      this.#pending = this.#pending.subarray(bytesWritten);
    }
  }

  /** The last text. Whatever becomes of it, the file is closed. */
  async end(text: string): Promise<void> {
    try {
      this.#pending = Buffer.concat([this.#pending, await this.#compressor.end(text)]);
      await this.retry();
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#compressor.close();
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    const found = await stat(this.#path).catch((error: unknown) => {
      if (errnoName(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (found && !found.isFile()) throw new Error(`${this.#path} is not a regular file`);
    if (found) await rename(this.#path, `${this.#path}.1`);
    return open(this.#path, 'wx', 0o640);
  }
}
