import type { FileHandle } from 'node:fs/promises';
import { Compressor } from './compressor.js';
import { makePlace, removeOlder, type RecordingLimits } from './place.js';

/** Somebody else writes to FILE, too: another begins FILE anew, and this one is closed. */
export class SharedFileError extends Error {}

/** One gzip member, in FILE. Nothing is forced to the disk: what was written survives a kill, not a power cut. */
export class RecordingFile {
  readonly #path: string;
  readonly #limits: RecordingLimits;
  readonly #isContinued: boolean;
  readonly #compressor = new Compressor();
  #file: FileHandle | undefined;
  #offset = 0;
  /** Compressed, and not in the file yet: where a write has failed, it is tried again. */
  #pending: Buffer = Buffer.alloc(0);
  #begunMs = performance.now();
  /** When FILE.1 was begun; undefined: there is none. */
  #olderBegunMs: number | undefined;

  /** @param isContinued  what is in FILE is of this run, and full */
  constructor(path: string, limits: RecordingLimits, isContinued: boolean) {
    this.#path = path;
    this.#limits = limits;
    this.#isContinued = isContinued;
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

  /** Writes what was not taken. Rejects with SharedFileError for good. */
  async retry(): Promise<void> {
    this.#file ??= await this.#open();
    if (this.#pending.length > 0 && (await this.#file.stat()).size > this.#offset) {
      throw new SharedFileError(`another process writes to ${this.#path}, too`);
    }
    while (this.#pending.length > 0) {
      const { bytesWritten } = await this.#file.write(this.#pending, 0, this.#pending.length, this.#offset);
      this.#offset += bytesWritten;
      this.#pending = this.#pending.subarray(bytesWritten);
    }
    if (this.#olderBegunMs === undefined || performance.now() - this.#olderBegunMs < this.#limits.maxAgeMs) return;
    this.#olderBegunMs = undefined;
    await removeOlder(this.#path);
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
    const { file, offset, ageMs, olderAgeMs } = await makePlace(this.#path, this.#limits, this.#isContinued);
    const nowMs = performance.now();
    this.#offset = offset;
    this.#begunMs = nowMs - ageMs;
    this.#olderBegunMs = olderAgeMs === undefined ? undefined : nowMs - olderAgeMs;
    return file;
  }
}
