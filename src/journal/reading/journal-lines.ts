import type { FileHandle } from 'node:fs/promises';

/** Longer lines are not records and are skipped. A record with a ranking has some hundred bytes per candidate. */
const LONGEST_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const ZEROS = Buffer.alloc(PIECE_BYTES);
const NOTHING = Buffer.alloc(0);

/** Lines without line feeds, valid until the next piece. `lost`: lines that were too long. */
export interface LinePiece {
  readonly lines: readonly Buffer[];
  readonly lost: number;
}

/** Reads the first `size` bytes of a file that may grow. Needs memory for a line and a piece. */
export function linePieces(file: FileHandle, size: number, backwards: boolean): AsyncGenerator<LinePiece, void> {
  return backwards ? backwardPieces(file, size) : forwardPieces(file, size);
}

async function* forwardPieces(file: FileHandle, size: number): AsyncGenerator<LinePiece, void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let partial = new PartialLine();
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, size - at), at);
    if (bytesRead === 0) break; // truncated meanwhile
    at += bytesRead;
    const bytes = piece.subarray(0, bytesRead);
    const first = bytes.indexOf(NEWLINE);
    if (first === -1) {
      partial.append(bytes);
      continue;
    }
    partial.append(bytes.subarray(0, first));
    const lines = [partial.bytes];
    const lost = partial.lost;
    let from = first + 1;
    for (let end = bytes.indexOf(NEWLINE, from); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      lines.push(bytes.subarray(from, end));
      from = end + 1;
    }
    partial = new PartialLine();
    partial.append(bytes.subarray(from));
    yield { lines: lines.map(withoutPadding).filter(isSomething), lost };
  }
  yield lastPiece(partial);
}

async function* backwardPieces(file: FileHandle, size: number): AsyncGenerator<LinePiece, void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let partial = new PartialLine();
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - PIECE_BYTES);
    const { bytesRead } = await file.read(piece, 0, end - from, from);
    end = from;
    const bytes = piece.subarray(0, bytesRead);
    let to = bytes.lastIndexOf(NEWLINE);
    if (to === -1) {
      partial.prepend(bytes);
      continue;
    }
    partial.prepend(bytes.subarray(to + 1));
    const lines = [partial.bytes];
    const lost = partial.lost;
    // lastIndexOf() counts a negative offset from the end.
    for (let before = to === 0 ? -1 : bytes.lastIndexOf(NEWLINE, to - 1); before !== -1;) {
      lines.push(bytes.subarray(before + 1, to));
      to = before;
      before = to === 0 ? -1 : bytes.lastIndexOf(NEWLINE, to - 1);
    }
    partial = new PartialLine();
    partial.prepend(bytes.subarray(0, to));
    yield { lines: lines.map(withoutPadding).filter(isSomething), lost };
  }
  yield lastPiece(partial);
}

function lastPiece({ bytes, lost }: PartialLine): LinePiece {
  return { lines: [withoutPadding(bytes)].filter(isSomething), lost };
}

/** The part of a line that was read so far. Zeros, which evictd preallocates, are not kept. */
class PartialLine {
  #parts: Buffer[] = [];
  #length = 0;
  lost = 0;

  append(bytes: Buffer): void {
    if (this.#takes(bytes)) this.#parts.push(Buffer.from(bytes));
  }

  prepend(bytes: Buffer): void {
    if (this.#takes(bytes)) this.#parts.unshift(Buffer.from(bytes));
  }

  get bytes(): Buffer {
    return this.lost > 0 ? NOTHING : Buffer.concat(this.#parts);
  }

  #takes(bytes: Buffer): boolean {
    if (this.lost > 0 || bytes.length === 0 || ZEROS.compare(bytes, 0, bytes.length, 0, bytes.length) === 0) return false;
    this.#length += bytes.length;
    if (this.#length <= LONGEST_BYTES) return true;
    this.#parts = [];
    this.lost = 1;
    return false;
  }
}

/** The line without zeros at both ends: preallocated space, or data lost in a power failure. */
function withoutPadding(line: Buffer): Buffer {
  let [from, to] = [0, line.length];
  while (from < to && line[from] === 0) from += 1;
  while (to > from && line[to - 1] === 0) to -= 1;
  return line.subarray(from, to);
}

function isSomething({ length }: Buffer): boolean {
  return length > 0;
}
