import { link, open, rename, rm, stat, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDirectory } from '../storage/directory.js';
import { errnoName, asError } from '../errors.js';

/** Every record. */
export const JOURNAL_FILE = 'journal.jsonl';
/** A second copy of the records of evictions (kept-records.ts), with limits of its own. */
export const EVICTIONS_FILE = 'evictions.jsonl';

/** The errors of filesystems without hard links. */
const LINKLESS = new Set(['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EMLINK']);

/** Another evictd may be writing a line. After this time it is done. */
const LINE_MS = 50;

export interface JournalLimits {
  /** A file is at most this long, unless a single write is longer. */
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Held while files are renamed. undefined: another evictd holds it. Never waits. */
export type RotationLock = () => { close(): void } | undefined;

/** Reserves space behind the end of a file and leaves its size. Rejects with Node's errors. */
export type Allocate = (fd: number, offset: number, length: number) => Promise<void>;

/**
 * A set of files in the state directory: `journal.jsonl`, which becomes `journal.jsonl.1` when it is full, that becomes
 * `.2`, and so on. The space of the current and of the next file (`journal.jsonl.next`) is reserved, so that records
 * are written also when the disk is full. The reservation does not change a file's size.
 *
 * Several evictds may append to these files. After another one has rotated them, evictd continues with the new file.
 * Every call waits for the directory.
 */
export class JournalFiles {
  readonly #path: string;
  readonly #next: string;
  #file: FileHandle | undefined;

  /** @param replacesOpen  a file may be renamed over an open one; not on Windows */
  constructor(
    private readonly directory: string,
    private readonly limits: JournalLimits,
    private readonly allocate: Allocate,
    private readonly lock: RotationLock,
    private readonly replacesOpen = true,
    name: typeof JOURNAL_FILE | typeof EVICTIONS_FILE = JOURNAL_FILE,
  ) {
    this.#path = join(directory, name);
    this.#next = `${this.#path}.next`;
  }

  /** Why space could not be reserved at the last attempt; undefined: it was reserved. */
  unreserved: Error | undefined;

  /** Opens what is not open. Returns the bytes of a last line that has no end; 0: the last line is whole. */
  async open(): Promise<number> {
    if (this.#file === undefined || !(await this.#isNamed(this.#file, this.#path))) {
      await this.close();
      await makeDirectory(this.directory, 0o750);
      const file = await open(this.#path, 'a', 0o640);
      this.#file = file;
      const status = await file.stat();
      if (!status.isFile()) throw new Error(`${this.#path} is not a regular file`);
      await this.#reserve(file, status.size);
    }
    const torn = await bytesBehindLastLine(this.#path);
    if (torn === 0) return 0;
    await pause(LINE_MS);
    return bytesBehindLastLine(this.#path);
  }

  /**
   * Appends the text, after `open`. Rejects with Node's errors. A part of the text may be in the file then, and stays:
   * another evictd may have written behind it.
   */
  async append(text: string): Promise<void> {
    const length = Buffer.byteLength(text);
    const size = await this.#size();
    if (size > 0 && size + length > this.limits.maxBytes && (await this.#rotate())) {
      await this.open();
    }
    // One write: another evictd may write directly behind it, so that a rest could not follow.
    const written = (await this.#file?.write(text))?.bytesWritten;
    if (written !== length) throw new Error(`wrote only ${String(written)} of ${String(length)} bytes to ${this.#path}`);
  }

  /** Makes and reserves the next file. Where there is no space for it, this is tried again the next time. */
  async prepare(): Promise<void> {
    await this.#makeNext().catch((error: unknown) => {
      this.unreserved = asError(error);
    });
  }

  /** The lines in the last `bytes`, and a few more. After `open`. */
  async lastLines(bytes: number): Promise<ReadonlySet<string>> {
    const lines = new Set<string>();
    let left = bytes;
    for (const path of [this.#path, `${this.#path}.1`]) {
      if (left <= 0) break;
      const text = await endOf(path, left);
      left -= text.length;
      for (const line of text.toString().split('\n')) lines.add(line);
    }
    return lines;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  async #size(): Promise<number> {
    return (await this.#file?.stat())?.size ?? 0;
  }

  /** Whether the open file still has this name: another evictd, or an operator, may have renamed it. */
  async #isNamed(file: FileHandle, path: string): Promise<boolean> {
    const [own, named] = [await file.stat({ bigint: true }), await unlessAbsent(stat(path, { bigint: true }))];
    return named?.ino === own.ino && named.dev === own.dev;
  }

  /**
   * Begins the next file. false: another evictd is doing that, or there is no space; then the full one is continued.
   */
  async #rotate(): Promise<boolean> {
    const lock = this.lock();
    if (lock === undefined) return false;
    try {
      const file = this.#file;
      if (file === undefined || !(await this.#isNamed(file, this.#path))) return true; // another evictd has rotated them
      if (!(await this.#hasNext()) && !(await this.#reuseOldest())) return false;
      // Both names: an evictd was killed before the last step, which is done now.
      if (!(await this.#isNamed(file, this.#older(1)))) {
        await this.#shift();
        await this.#keep();
      }
      if ((await this.#isNamed(file, this.#path)) || !(await exists(this.#path))) await rename(this.#next, this.#path);
      return true;
    } finally {
      lock.close();
    }
  }

  /**
   * Names it `.1`. The old name stays until the next file takes it: without it, another evictd would make a file of
   * that name, and this one would replace it.
   */
  async #keep(): Promise<void> {
    try {
      if (this.replacesOpen) {
        await link(this.#path, this.#older(1));
        return;
      }
    } catch (error) {
      if (!LINKLESS.has(errnoName(error) ?? '')) throw error;
    }
    await rename(this.#path, this.#older(1));
  }

  /** Frees the name `.1`. */
  async #shift(): Promise<void> {
    const { maxFiles } = this.limits;
    for (let number = await this.#count(); number > 0; number -= 1) {
      if (number + 1 >= maxFiles) await rm(this.#older(number), { force: true });
      else await rename(this.#older(number), this.#older(number + 1));
    }
  }

  /** A run that was killed may have left records in the next file. They are under another name, too, and stay there. */
  async #hasNext(): Promise<boolean> {
    await this.prepare();
    let status = await unlessAbsent(stat(this.#next));
    if (status && status.nlink > 1) {
      await rm(this.#next);
      await this.prepare();
      status = await unlessAbsent(stat(this.#next));
    }
    if (status && status.size > 0) await truncate(this.#next, 0);
    return status !== undefined;
  }

  /** The disk is full: the oldest records make space for the newest. */
  async #reuseOldest(): Promise<boolean> {
    for (let oldest = await this.#count(); oldest > 0; oldest -= 1) {
      await rename(this.#older(oldest), this.#next);
      if (await this.#hasNext()) return true;
    }
    return false;
  }

  async #count(): Promise<number> {
    let count = 0;
    while (await exists(this.#older(count + 1))) count += 1;
    return count;
  }

  /** Makes the next file. Without reserved space the file is removed again: it would be full at once. */
  async #makeNext(): Promise<void> {
    if (await exists(this.#next)) return;
    const file = await open(this.#next, 'ax', 0o640);
    try {
      await this.#reserve(file, 0);
      if (errnoName(this.unreserved) === 'ENOSPC') await rm(this.#next, { force: true });
    } finally {
      await file.close();
    }
  }

  async #reserve(file: FileHandle, size: number): Promise<void> {
    this.unreserved = undefined;
    if (size >= this.limits.maxBytes) return;
    await this.allocate(file.fd, size, this.limits.maxBytes - size).catch((error: unknown) => {
      this.unreserved = asError(error);
    });
  }

  #older(number: number): string {
    return `${this.#path}.${String(number)}`;
  }
}

async function endOf(path: string, bytes: number): Promise<Buffer> {
  const file = await unlessAbsent(open(path, 'r'));
  if (file === undefined) return Buffer.alloc(0);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** How far back the end of a cut-off line is searched for. */
const TORN_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

async function bytesBehindLastLine(path: string): Promise<number> {
  if ((await endOf(path, 1)).at(-1) === NEWLINE) return 0;
  const end = await endOf(path, TORN_BYTES);
  return end.length === 0 ? 0 : end.length - 1 - end.lastIndexOf(NEWLINE);
}

async function exists(path: string): Promise<boolean> {
  return (await unlessAbsent(stat(path))) !== undefined;
}

async function unlessAbsent<T>(made: Promise<T>): Promise<T | undefined> {
  try {
    return await made;
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return undefined;
    throw error;
  }
}
