import type { FileHandle } from 'node:fs/promises';
import { isKeptRecord } from '../kept-records.js';
import { headOf } from './history-event.js';
import { linePieces } from './journal-lines.js';

const PIECE_BYTES = 1024 * 1024;

interface OpenFile {
  readonly file: FileHandle;
  readonly size: number;
}

/**
 * The part of the evictions' own files that is older than the journal: what other records have pushed out of it. The
 * rest is in the journal too, from its first record of that kind on.
 *
 * @param kept  from the oldest to the newest, as `journal`
 */
export async function withoutCopies<F extends OpenFile>(kept: readonly F[], journal: readonly F[]): Promise<readonly F[]> {
  const first = await firstLine(journal, (line) => isKeptRecord(line.toString()));
  if (first === undefined) return kept;
  for (const [index, each] of kept.entries()) {
    const size = await offsetOf(first, each);
    if (size !== undefined) return [...kept.slice(0, index), { ...each, size }];
  }
  // It is not there yet, or it is of an evictd that had no such files.
  const oldest = await firstLine(kept, () => true);
  return oldest !== undefined && timeOf(oldest) < timeOf(first) ? kept : [];
}

async function firstLine(files: readonly OpenFile[], isWanted: (line: Buffer) => boolean): Promise<Buffer | undefined> {
  for (const { file, size } of files) {
    for await (const { lines } of linePieces(file, size, false)) {
      const found = lines.find(isWanted);
      if (found) return Buffer.from(found);
    }
  }
  return undefined;
}

/** The offset of the line in the file; undefined: it is not there. */
async function offsetOf(line: Buffer, { file, size }: OpenFile): Promise<number | undefined> {
  const piece = Buffer.alloc(PIECE_BYTES + line.length);
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, size - at), at);
    const found = piece.subarray(0, bytesRead).indexOf(line);
    if (found !== -1) return at + found;
  }
  return undefined;
}

function timeOf(line: Buffer): string {
  return headOf(line)?.time ?? '';
}
