import { open, rename, type FileHandle } from 'node:fs/promises';
import type { Sink } from './log-destination.js';
import { asError } from '../errors.js';

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * A log file, for a Windows service, which has no standard error. A full file replaces NAME.1. The directory must
 * exist. Never blocks; an error loses the chunk, and the next one opens the file again.
 */
export function rotatingFile(path: string, maxBytes = MAX_BYTES): Sink {
  let file: FileHandle | undefined;
  let size = 0;
  const opened = async (): Promise<FileHandle> => {
    file ??= await open(path, 'a', 0o640);
    size = (await file.stat()).size;
    return file;
  };
  const closed = async (): Promise<void> => {
    const last = file;
    file = undefined;
    await last?.close();
  };
  const write = async (chunk: Buffer): Promise<void> => {
    let to = file ?? (await opened());
    if (size > 0 && size + chunk.length > maxBytes) {
      await closed(); // Windows cannot rename over an open file
      await rename(path, `${path}.1`);
      to = await opened();
    }
    await to.appendFile(chunk);
    size += chunk.length;
  };
  return (chunk, done) => {
    write(chunk).then(
      () => {
        done();
      },
      (error: unknown) => {
        closed().catch(() => undefined);
        done(asError(error));
      },
    );
  };
}
