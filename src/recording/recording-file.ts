import type { FileHandle } from 'node:fs/promises';
import { Compressor } from './compressor.js';
import { openRecording, removeOlder, type RecordingLimits } from './recording-rotation.js';

/** Another process writes to FILE, too. This file is closed, and a new FILE is begun. */
export class SharedFileError extends Error {}

/** One gzip member, in FILE. No fsync: the content survives a kill, not a power cut. */
export class RecordingFile {
  readonly #path: string;
  readonly #limits: RecordingLimits;
  readonly #isContinued: boolean;
  readonly #compressor = new Compressor();
  #file: FileHandle | undefined;
  #offset = 0;
  /** Compressed and not written yet: after a failed write it is tried again. */
  #pending: Buffer = Buffer.alloc(0);
  #begunMs = performance.now();
  /** When FILE.1 was begun; undefined: there is none. */
  #olderBegunMs: number | undefined;

  constructor(path: string, limits: RecordingLimits, isContinued: boolean) {
    this.#path = path;
    this.#limits = limits;
    this.#isContinued = isContinued;
  }

  /** It has half of what may be kept: a new file has to be begun. */
  get isFull(): boolean {
    return this.#offset * 2 >= this.#limits.maxBytes || (performance.now() - this.#begunMs) * 2 >= this.#limits.maxAgeMs;
  }

  /** Rejects where the text cannot be written now. It is kept: continue with {@link retry}. */
  async write(text: string): Promise<void> {
    this.#pending = Buffer.concat([this.#pending, await this.#compressor.add(text)]);
    await this.retry();
  }

  /** Writes what was not written. A SharedFileError is final. */
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

  /** Writes the last text, and closes the file in any case. */
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
    const { file, offset, ageMs, olderAgeMs } = await openRecording(this.#path, this.#limits, this.#isContinued);
    const nowMs = performance.now();
    this.#offset = offset;
    this.#begunMs = nowMs - ageMs;
    this.#olderBegunMs = olderAgeMs === undefined ? undefined : nowMs - olderAgeMs;
    return file;
  }
}
