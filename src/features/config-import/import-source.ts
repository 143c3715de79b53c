import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { InputError, type SourcePosition, messageOf } from '../../errors.js';

/** A configuration has a few kilobytes. */
const MAX_BYTES = 256 * 1024;

/** What is converted: a file, or the text of an argument. */
export interface ImportSource {
  /** A path, or what to name the argument in messages. */
  readonly file: string;
  readonly text: string;
}

/**
 * Reads a file of another program. It need not belong to root: evictd only prints what it makes of it.
 *
 * @throws InputError  missing, unreadable, too large or no UTF-8
 */
export function readImportSource(file: string): ImportSource {
  const bytes = bytesOf(file);
  if (bytes.length > MAX_BYTES) {
    const hint = 'name the configuration file';
    throw new InputError('EVICTD_IMPORT_FILE', `${file} is larger than ${String(MAX_BYTES / 1024)} KiB`, { isMissing: false, hint });
  }
  if (!isUtf8(bytes)) throw new InputError('EVICTD_IMPORT_FILE', `${file} is not UTF-8`, { isMissing: false, hint: 'save it as UTF-8' });
  return { file, text: bytes.toString('utf8').replace(/^\uFEFF/, '') };
}

/** Reads at most one byte more than the limit, so that a device without an end ends the reading. */
function bytesOf(file: string): Buffer {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  try {
    const descriptor = openSync(file, 'r');
    try {
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
      }
      return buffer.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    const hint = 'name a file that exists and that you may read';
    throw new InputError('EVICTD_IMPORT_FILE', `${file} cannot be read: ${messageOf(cause)}`, { isMissing: true, hint, cause });
  }
}

/** Turns offsets of a text into lines and columns. */
export function positionsOf({ file, text }: ImportSource): (offset: number) => SourcePosition {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { file, line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}
