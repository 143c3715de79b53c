import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { errnoName, InputError } from '../errors.js';
import { RecordingStream } from './recording-stream.js';
import { Compressor } from './gzip.js';

export interface RecordingLimits {
  /** The maximum of both files together, compressed. */
  readonly maxBytes: number;
  /** The age from which on entries are removed. */
  readonly maxAgeMs: number;
}

/** The place to continue at. Ages are those of the first line. */
export interface OpenedRecording {
  readonly file: FileHandle;
  readonly offset: number;
  readonly ageMs: number;
  /** The age of FILE.1; undefined: there is none. */
  readonly olderAgeMs: number | undefined;
}

/**
 * Opens FILE at its end where an earlier run has not filled it, so that many short runs do not displace what was before
 * them. A full FILE, or one that is not a recording, becomes FILE.1. Each has half of what may be kept.
 *
 * @param isFull  FILE counts as full in any case
 */
export async function openRecording(path: string, { maxBytes, maxAgeMs }: RecordingLimits, isFull: boolean): Promise<OpenedRecording> {
  const older = olderOf(path);
  const found = await statOf(path);
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file`);
  const ageMs = found && (await ageOf(path));
  if (found && ageMs !== undefined && !isFull && found.size * 2 < maxBytes && ageMs * 2 < maxAgeMs) {
    return { file: await open(path, 'r+'), offset: found.size, ageMs, olderAgeMs: await ageOf(older) };
  }
  if (found) await rename(path, older);
  return { file: await open(path, 'wx', 0o640), offset: 0, ageMs: 0, olderAgeMs: await ageOf(older) };
}

async function removeOlder(path: string): Promise<void> {
  await rm(olderOf(path), { force: true });
}

function olderOf(path: string): string {
  return `${path}.1`;
}

async function statOf(path: string) {
  return stat(path).catch((error: unknown) => {
    if (errnoName(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** undefined: there is no such file, or it is not a recording. A clock that was set back counts as age 0. */
async function ageOf(path: string): Promise<number | undefined> {
  if (!(await statOf(path))?.isFile()) return undefined; // opening a pipe would block
  try {
    const stream = await RecordingStream.open(path);
    await stream.close();
    return Math.max(0, Date.now() - Date.parse(stream.header.startedAt));
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Another process writes to FILE, too. This file is closed, and a new FILE is begun. */
export class SharedFileError extends Error {}

/** One gzip member, in FILE. No fsync: the content survives a kill, not a power cut. */
export class RecordingFile {
  readonly #compressor = new Compressor();
  #file: FileHandle | undefined;
  #offset = 0;
  /** Compressed and not written yet: after a failed write it is tried again. */
  #pending: Buffer = Buffer.alloc(0);
  #begunMs = performance.now();
  /** When FILE.1 was begun; undefined: there is none. */
  #olderBegunMs: number | undefined;

  constructor(
    private readonly path: string,
    private readonly limits: RecordingLimits,
    private readonly isContinued: boolean,
  ) {}

  /** It has half of what may be kept: a new file has to be begun. */
  get isFull(): boolean {
    return this.#offset * 2 >= this.limits.maxBytes || (performance.now() - this.#begunMs) * 2 >= this.limits.maxAgeMs;
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
      throw new SharedFileError(`another process writes to ${this.path}, too`);
    }
    while (this.#pending.length > 0) {
      const { bytesWritten } = await this.#file.write(this.#pending, 0, this.#pending.length, this.#offset);
      this.#offset += bytesWritten;
      this.#pending = this.#pending.subarray(bytesWritten);
    }
    if (this.#olderBegunMs === undefined || performance.now() - this.#olderBegunMs < this.limits.maxAgeMs) return;
    this.#olderBegunMs = undefined;
    await removeOlder(this.path);
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
    const { file, offset, ageMs, olderAgeMs } = await openRecording(this.path, this.limits, this.isContinued);
    const nowMs = performance.now();
    this.#offset = offset;
    this.#begunMs = nowMs - ageMs;
    this.#olderBegunMs = olderAgeMs === undefined ? undefined : nowMs - olderAgeMs;
    return file;
  }
}
