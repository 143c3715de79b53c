import type { FileHandle } from 'node:fs/promises';

/** A line is a record with the ranking of all candidates: some hundred bytes each. What is longer is no journal, and is passed over. */
const LONGEST_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const ZEROS = Buffer.alloc(PIECE_BYTES);
const NOTHING = Buffer.alloc(0);

/** Lines of a piece of the file, without their ends, in the order of reading; valid until the next piece is asked for. `lost`: lines that were too long. */
export interface LinePiece {
  readonly lines: readonly Buffer[];
  readonly lost: number;
}

/** A file that may be written to meanwhile: its first `size` bytes, forwards or backwards. Memory stays at a line and a piece, whatever the size. */
export function linePieces(file: FileHandle, size: number, backwards: boolean): AsyncGenerator<LinePiece, void> {
  return backwards ? backwardPieces(file, size) : forwardPieces(file, size);
}

async function* forwardPieces(file: FileHandle, size: number): AsyncGenerator<LinePiece, void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let rest = new Rest();
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, size - at), at);
    if (bytesRead === 0) break; // it was cut meanwhile
    at += bytesRead;
    const bytes = piece.subarray(0, bytesRead);
    const first = bytes.indexOf(NEWLINE);
    if (first === -1) {
      rest.append(bytes);
      continue;
    }
    rest.append(bytes.subarray(0, first));
    const lines = [rest.bytes];
    const lost = rest.lost;
    let from = first + 1;
    for (let end = bytes.indexOf(NEWLINE, from); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      lines.push(bytes.subarray(from, end));
      from = end + 1;
    }
    rest = new Rest();
    rest.append(bytes.subarray(from));
    yield { lines: lines.map(withoutPadding).filter(isSomething), lost };
  }
  yield lastPiece(rest);
}

async function* backwardPieces(file: FileHandle, size: number): AsyncGenerator<LinePiece, void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let rest = new Rest();
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - PIECE_BYTES);
    const { bytesRead } = await file.read(piece, 0, end - from, from);
    end = from;
    const bytes = piece.subarray(0, bytesRead);
    let to = bytes.lastIndexOf(NEWLINE);
    if (to === -1) {
      rest.prepend(bytes);
      continue;
    }
    rest.prepend(bytes.subarray(to + 1));
    const lines = [rest.bytes];
    const lost = rest.lost;
    // A negative offset would count from the end.
    for (let before = to === 0 ? -1 : bytes.lastIndexOf(NEWLINE, to - 1); before !== -1;) {
      lines.push(bytes.subarray(before + 1, to));
      to = before;
      before = to === 0 ? -1 : bytes.lastIndexOf(NEWLINE, to - 1);
    }
    rest = new Rest();
    rest.prepend(bytes.subarray(0, to));
    yield { lines: lines.map(withoutPadding).filter(isSomething), lost };
  }
  yield lastPiece(rest);
}

function lastPiece({ bytes, lost }: Rest): LinePiece {
  return { lines: [withoutPadding(bytes)].filter(isSomething), lost };
}

/** The part of a line that the pieces so far have. What is allocated ahead of the records is zeros, of any length: they are not kept. */
class Rest {
  #parts: Buffer[] = [];
  #length = 0;
  lost = 0;

  /** Behind what is there. */
  append(bytes: Buffer): void {
    if (this.#takes(bytes)) this.#parts.push(Buffer.from(bytes));
  }

  /** Ahead of what is there. */
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

/** Without the zeros at both ends: what was allocated and never written, or lost with the power. */
function withoutPadding(line: Buffer): Buffer {
  let [from, to] = [0, line.length];
  while (from < to && line[from] === 0) from += 1;
  while (to > from && line[to - 1] === 0) to -= 1;
  return line.subarray(from, to);
}

function isSomething({ length }: Buffer): boolean {
  return length > 0;
}
