import { link, open, rename, rm, stat, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDirectory } from '../directory.js';
import { errnoName } from '../errors.js';

export const JOURNAL_FILE = 'journal.jsonl';

/** What filesystems without hard links say. */
const LINKLESS = new Set(['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EMLINK']);

/** Another evictd may be in the middle of a line: after so long it is not. */
const LINE_MS = 50;

export interface JournalLimits {
  /** A file has no more than this, unless a single write is longer. */
  readonly maxBytes: number;
  /** The one that is written to included. */
  readonly maxFiles: number;
}

/** Held while files are given other names. undefined: another evictd holds it. Never waits. */
export type RotationLock = () => { close(): void } | undefined;

/** Reserves space behind what a file has, and leaves its size. Rejects with Node's errors. */
export type Allocate = (fd: number, offset: number, length: number) => Promise<void>;

/**
 * The journal in the state directory: `journal.jsonl`, which is full at its limit and becomes `journal.jsonl.1`, that `.2`, and so on. Its space is reserved from the
 * beginning, and so is that of the next one (`journal.jsonl.next`), so that a full disk takes records all the same. The size of a file is that of its records: nothing
 * has to know of what is reserved behind them.
 *
 * Several evictds may write here, each at the end of what is there; whoever finds that the file was moved goes on with the new one. Every call waits for the directory.
 */
export class JournalFiles {
  readonly #directory: string;
  readonly #path: string;
  readonly #next: string;
  readonly #limits: JournalLimits;
  readonly #allocate: Allocate;
  readonly #lock: RotationLock;
  readonly #replacesOpen: boolean;
  #file: FileHandle | undefined;

  /** @param replacesOpen  a file may be given the name of one that is open; not on Windows, where it only may lose its own */
  constructor(directory: string, limits: JournalLimits, allocate: Allocate, lock: RotationLock, replacesOpen = true) {
    this.#directory = directory;
    this.#path = join(directory, JOURNAL_FILE);
    this.#next = `${this.#path}.next`;
    this.#limits = limits;
    this.#allocate = allocate;
    this.#lock = lock;
    this.#replacesOpen = replacesOpen;
  }

  /** Why space could not be reserved the last time that it was tried; undefined: it was. */
  unreserved: Error | undefined;

  /** Opens what is not open. Tells the bytes of a last line that has no end, whoever wrote it; 0: it has one. */
  async open(): Promise<number> {
    if (this.#file === undefined || !(await this.#isNamed(this.#file, this.#path))) {
      await this.close();
      await makeDirectory(this.#directory, 0o750);
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
   * Rejects with Node's errors. A part of it may be in the file then, and stays: another evictd may have written behind it. After `open`, which tells of a part.
   */
  async append(text: string): Promise<void> {
    const length = Buffer.byteLength(text);
    const size = await this.#size();
    if (size > 0 && size + length > this.#limits.maxBytes && (await this.#rotate())) {
      await this.open();
    }
    // One write, behind which another evictd may write: what does not go into it cannot follow.
    const written = (await this.#file?.write(text))?.bytesWritten;
    if (written !== length) throw new Error(`${this.#path} has taken ${String(written)} of ${String(length)} bytes`);
  }

  /** The file that is going to be the next one, and its space. Where there is no room for it that is found out again the next time. */
  async prepare(): Promise<void> {
    await this.#makeNext().catch((error: unknown) => {
      this.unreserved = asError(error);
    });
  }

  /** The lines that the last `bytes` have, and a few more. After `open`. */
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

  /** Whether this is the file of that name: another evictd may have moved it, or a person. */
  async #isNamed(file: FileHandle, path: string): Promise<boolean> {
    const [own, named] = [await file.stat({ bigint: true }), await unlessAbsent(stat(path, { bigint: true }))];
    return named?.ino === own.ino && named.dev === own.dev;
  }

  /** Begins the next file; false: another evictd is about to, or there is no room for one, and the one that is full goes on. */
  async #rotate(): Promise<boolean> {
    const lock = this.#lock();
    if (lock === undefined) return false;
    try {
      const file = this.#file;
      if (file === undefined || !(await this.#isNamed(file, this.#path))) return true; // another evictd was first
      if (!(await this.#hasNext()) && !(await this.#reuseOldest())) return false;
      // An evictd that was killed in between has left it both names: what was left to do is the last step.
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

  /** As `.1`. There is a file of its name at every moment, or somebody would make one that is then replaced, with what is in it. */
  async #keep(): Promise<void> {
    try {
      if (this.#replacesOpen) {
        await link(this.#path, this.#older(1));
        return;
      }
    } catch (error) {
      if (!LINKLESS.has(errnoName(error) ?? '')) throw error;
    }
    await rename(this.#path, this.#older(1));
  }

  /** Makes room for another `.1`. */
  async #shift(): Promise<void> {
    const { maxFiles } = this.#limits;
    for (let number = await this.#count(); number > 0; number -= 1) {
      if (number + 1 >= maxFiles) await rm(this.#older(number), { force: true });
      else await rename(this.#older(number), this.#older(number + 1));
    }
  }

  /** What evictd was killed in the middle of may have left records in it. They are under another name, too: then it is that name's. */
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

  /** The disk is full, and the oldest records make room for the newest. */
  async #reuseOldest(): Promise<boolean> {
    for (let oldest = await this.#count(); oldest > 0; oldest -= 1) {
      await rename(this.#older(oldest), this.#next);
      if (await this.#hasNext()) return true;
    }
    return false;
  }

  /** How many older ones there are. */
  async #count(): Promise<number> {
    let count = 0;
    while (await exists(this.#older(count + 1))) count += 1;
    return count;
  }

  /** Without its space it is taken away again: it would be full before it has begun. */
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
    if (size >= this.#limits.maxBytes) return;
    await this.#allocate(file.fd, size, this.#limits.maxBytes - size).catch((error: unknown) => {
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

/** Of a line that was cut off at most so much is looked for. */
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
