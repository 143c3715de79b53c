import { closeSync, constants, fstatSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoName } from '../errors.js';

// `recursive: true` loops for ever if mkdir() fails with ENOENT below an existing directory, as in /proc (seen with
// Node 20).

/**
 * Makes a directory and its missing parents. Throws the error of mkdir(2); EEXIST: the path exists and is no directory.
 */
export function makeDirectorySync(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errnoName(error) === 'EEXIST' && statSync(path).isDirectory()) return;
    if (errnoName(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeDirectorySync(dirname(path), mode);
    makeLastSync(path, mode);
  }
}

/** The same, asynchronously. */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (errnoName(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (errnoName(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), mode);
    await mkdir(path, { mode }).catch(unlessThere);
  }
}

function makeLastSync(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    unlessThere(error);
  }
}

/** Another process may have made it meanwhile. */
function unlessThere(error: unknown): void {
  if (errnoName(error) !== 'EEXIST') throw error;
}

/** libuv's EPERM and EBUSY on Windows; Linux has other numbers. */
const BUSY_ERRNOS: readonly unknown[] = [-4048, -4082];
/** How long {@link replaceFileSync} retries. */
const RETRY_MS = 200;

/** Whether Windows refused it because another process has the file open or is replacing it. */
export const isSharingViolation = (error: unknown): boolean => BUSY_ERRNOS.includes((error as NodeJS.ErrnoException | undefined)?.errno);

/** Replaces a file atomically, by rename(2). Does not follow links. */
export function replaceFileSync(path: string, text: string, mode: number): void {
  const fresh = `${path}.new`;
  try {
    writeNew(fresh, text, mode);
    renameWithRetry(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true }); // partial after a full disk
    throw error;
  }
}

/** Windows has no flags for links and for files that may block. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as { readonly O_NOFOLLOW?: number; readonly O_NONBLOCK?: number };

/**
 * Writes over a regular file of exactly this length that has no other name: cheaper than to replace it, but a reader may
 * see parts of both. Does not follow links or wait.
 *
 * @returns whether it is written; if not, the file has to be replaced
 */
export function overwriteSync(path: string, text: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    const file = fstatSync(descriptor);
    const bytes = Buffer.byteLength(text);
    return file.isFile() && file.nlink === 1 && file.size === bytes && writeSync(descriptor, text, 0) === bytes;
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** What a crash has left under the name is removed, and not written to: it may be a link. */
function writeNew(path: string, text: string, mode: number): void {
  const options = { flag: 'wx', mode } as const;
  try {
    writeFileSync(path, text, options);
  } catch (error) {
    if (errnoName(error) !== 'EEXIST') throw error;
    rmSync(path, { force: true });
    writeFileSync(path, text, options);
  }
}

/** Windows cannot replace an open file; readers have it open only for a moment. */
function renameWithRetry(from: string, to: string): void {
  let endMs: number | undefined;
  for (;;) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      endMs ??= performance.now() + RETRY_MS;
      if (!isSharingViolation(error) || performance.now() >= endMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
