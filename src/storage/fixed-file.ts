import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { errnoName } from '../errors.js';

const ZEROS = Buffer.alloc(65_536);
/** Errors that pass when files are removed: a full filesystem, or a quota. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'ENOMEM']);

export function isOutOfSpace(error: unknown): error is Error {
  return NO_ROOM.has(errnoName(error) ?? '');
}

/** A file that an earlier run left. The caller closes it. */
export interface ExistingFile {
  readonly file: FixedFile;
  readonly content: Buffer;
  /** All its space is allocated: a write to it needs no more. */
  readonly hasItsRoom: boolean;
}

/**
 * A file whose every page was written when it was made, so that later writes need no memory, no disk space and no
 * allocation. It never grows.
 */
export class FixedFile {
  #fd: number | undefined;

  constructor(
    fd: number,
    readonly sizeBytes: number,
  ) {
    this.#fd = fd;
  }

  /** Throws Node's errors, and after `close`: another file may have the number of the descriptor by then. */
  write(bytes: Buffer, length: number, at: number): void {
    if (this.#fd === undefined) throw new Error('the file is closed');
    writeSync(this.#fd, bytes, 0, length, at);
  }

  /** May be called twice. */
  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * The file at the path; undefined: there is none that may be written to. A link, or a file with another name, may not.
 * Throws Node's errors.
 */
export function openExistingFile(path: string): ExistingFile | undefined {
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
 * Returns the standing file where it has the right size; otherwise a new one; and where there is no space for that, the
 * standing one whatever its size.
 *
 * @param standing  undefined: there is no file that can be continued
 * @param begin  writes the first content of a new file, where that is not zeros
 * @throws Node's errors; nothing is left of a new file then
 */
export function openFixedFile(
  path: string,
  sizeBytes: number,
  standing: ExistingFile | undefined,
  begin: (file: FixedFile) => void,
): FixedFile {
  rmSync(freshName(path), { force: true }); // left by a run that was killed while it made it
  if (standing?.hasItsRoom && standing.file.sizeBytes === sizeBytes) return standing.file;
  let left = standing?.file;
  try {
    return makeFixedFile(path, sizeBytes, (file) => {
      begin(file);
      left?.close(); // the new file has all its space; Windows would not rename over an open file
      left = undefined;
    });
  } catch (error) {
    if (left !== undefined && isOutOfSpace(error)) return left;
    left?.close();
    throw error;
  }
}

/** Makes the file beside the old one, which a crash leaves intact. A link in its place is not followed. */
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
