import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { errnoName, InputError } from '../errors.js';
import { RecordingStream } from './recording-stream.js';

export interface RecordingLimits {
  /** Of both files together, compressed. */
  readonly maxBytes: number;
  /** What is older is removed. */
  readonly maxAgeMs: number;
}

/** Where to continue. Ages are those of the first line. */
export interface OpenedRecording {
  readonly file: FileHandle;
  readonly offset: number;
  readonly ageMs: number;
  /** Of FILE.1; undefined: there is none. */
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

export async function removeOlder(path: string): Promise<void> {
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
