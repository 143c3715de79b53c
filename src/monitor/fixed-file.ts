import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { errnoName } from '../errors.js';

const ZEROS = Buffer.alloc(65_536);
/** What says that somebody may make room: a full filesystem, and the limit of its owner. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'ENOMEM']);

/** Whether a file could not be made because there is no room for it. */
export function isNoRoom(error: unknown): error is Error {
  return NO_ROOM.has(errnoName(error) ?? '');
}

/** What an earlier run has left under a name. Its owner closes it. */
export interface StandingFile {
  readonly file: FixedFile;
  readonly content: Buffer;
  /** Every page of it has its place: to write to it takes no room. */
  readonly hasItsRoom: boolean;
}

/**
 * A file every page of which was written when it was made, so that what is written to it later needs no memory, no disk and no allocation in the filesystem. It never
 * grows.
 */
export class FixedFile {
  readonly #fd: number;
  readonly sizeBytes: number;

  constructor(fd: number, sizeBytes: number) {
    this.#fd = fd;
    this.sizeBytes = sizeBytes;
  }

  /** The first `length` bytes of it. Throws Node's errors. */
  write(bytes: Buffer, length: number, at: number): void {
    writeSync(this.#fd, bytes, 0, length, at);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** undefined: nothing stands there that may be written to: no file, a link, or one that has another name, too. Throws Node's errors. */
export function standingFile(path: string): StandingFile | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || errnoName(error) === 'ELOOP') return undefined;
    throw error;
  }
  try {
    const status = fstatSync(fd);
    const { size, blocks } = status;
    if (status.isFile() && status.nlink === 1) {
      const content = Buffer.alloc(size);
      const read = readSync(fd, content, 0, size, 0);
      return { file: new FixedFile(fd, size), content: content.subarray(0, read), hasItsRoom: blocks * 512 >= size };
    }
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}

/**
 * The file that stands there where it has its size, untouched; else a new one; and where there is no room for that, the one that stands there, whatever its size.
 *
 * @param standing  undefined: nothing stands there that can be gone on with
 * @param begin  writes what a new one begins with, where it is not zeros
 * @throws Node's errors; nothing is left of a new one then
 */
export function openFixedFile(
  path: string,
  sizeBytes: number,
  standing: StandingFile | undefined,
  begin: (file: FixedFile) => void,
): FixedFile {
  rmSync(freshName(path), { force: true }); // of one that was killed while it made it
  if (standing?.hasItsRoom && standing.file.sizeBytes === sizeBytes) return standing.file;
  let left = standing?.file;
  try {
    return makeFixedFile(path, sizeBytes, (file) => {
      begin(file);
      left?.close(); // all of the new one has its room; on Windows it could not take the name of one that is open
      left = undefined;
    });
  } catch (error) {
    if (left !== undefined && isNoRoom(error)) return left;
    left?.close();
    throw error;
  }
}

/** Beside the old one, which a crash in the middle leaves as it is. A link in its place is not followed. */
export function makeFixedFile(path: string, sizeBytes: number, begin: (file: FixedFile) => void): FixedFile {
  const fresh = freshName(path);
  rmSync(fresh, { force: true });
  const fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    for (let at = 0; at < sizeBytes;) {
      at += writeSync(fd, ZEROS, 0, Math.min(ZEROS.length, sizeBytes - at), at);
    }
    const file = new FixedFile(fd, sizeBytes);
    begin(file);
    renameSync(fresh, path);
    return file;
  } catch (error) {
    closeSync(fd);
    rmSync(fresh, { force: true });
    throw error;
  }
}

function freshName(path: string): string {
  return `${path}.new`;
}
