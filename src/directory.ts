import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoName } from './errors.js';

// Instead of `recursive: true`, which never returns where the kernel says ENOENT below a directory that is there, in /proc or of a mount that is gone
// (seen with Node 20).

/** Makes a directory and those above it that are missing. Throws what mkdir(2) says, EEXIST where it is there and is no directory. */
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

/** The same, without waiting. */
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

/** Somebody else may have made it meanwhile. */
function unlessThere(error: unknown): void {
  if (errnoName(error) !== 'EEXIST') throw error;
}

/** libuv's numbers of EPERM and EBUSY on Windows; on Linux, where they do not pass, they have others. */
const HINDERED: readonly unknown[] = [-4048, -4082];
/** How long {@link replaceFileSync} tries again. */
const HINDERED_MS = 200;

/** Windows refuses it because somebody has the file open, or is replacing it: that passes. */
export const isHindered = (error: unknown): boolean => HINDERED.includes((error as NodeJS.ErrnoException | undefined)?.errno);

/** Made beside it and renamed: a reader sees the file before or the file after, a crash leaves the one before. A link in the way is not followed. */
export function replaceFileSync(path: string, text: string, mode: number): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode });
    renameUnhindered(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true }); // what a full disk took of it
    throw error;
  }
}

/** Windows replaces no file that somebody has open: readers have theirs for a moment only. */
function renameUnhindered(from: string, to: string): void {
  const endMs = performance.now() + HINDERED_MS;
  for (;;) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      if (!isHindered(error) || performance.now() >= endMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
