import { constants, open, type FileHandle } from 'node:fs/promises';
import { errnoName, InputError } from '../errors.js';
import { Decompressor, membersOf } from './gzip.js';

const LINE_CHARACTERS = 64 * 1024 * 1024;

/** How much is read at once. Of a damaged file everything before the damaged piece is read. */
const PIECE_BYTES = 4 * 1024;

/**
 * A whole line; or why there are no more of them in this part of the file (cut), or none at all (lost). Another part
 * may follow.
 */
export type RecordingLine =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'cut'; readonly reason: string }
  | { readonly kind: 'lost'; readonly reason: string };

/**
 * The lines of a file, compressed or not. Returns the error at its end.
 *
 * @throws InputError  where it cannot be read
 */
export async function* linesOf(path: string): AsyncGenerator<RecordingLine, string | undefined> {
  const file = await openFile(path);
  let part = new Part();
  let hasLines = false;
  try {
    for await (const { begins, bytes } of membersOf(piecesOf(file, path))) {
      if (begins) {
        yield* endOf(part, hasLines);
        part.close();
        part = new Part();
        hasLines = false;
      }
      for (const text of await part.add(bytes)) {
        yield { kind: 'line', text };
        hasLines = true;
      }
    }
    yield* endOf(part, hasLines);
    return part.problem;
  } finally {
    part.close();
    await file.close();
  }
}

/** A part without a line was begun and not written: no loss, unless it is damaged. */
function* endOf({ problem, isDamaged }: Part, hasLines: boolean): Generator<RecordingLine> {
  if (problem === undefined) return;
  if (hasLines) yield { kind: 'cut', reason: problem };
  else if (isDamaged) yield { kind: 'lost', reason: problem };
}

/** A part of the file: one gzip member, or a file that is not compressed. */
class Part {
  readonly #decoder = new TextDecoder();
  #decompressor: Decompressor | undefined;
  #isFirst = true;
  #rest = '';
  #endless = false;

  get isDamaged(): boolean {
    return this.#decompressor?.problem !== undefined || this.#endless;
  }

  /** The error if this was the last piece. */
  get problem(): string | undefined {
    if (this.#decompressor?.problem !== undefined) return this.#decompressor.problem;
    if (this.#endless) return 'a line has no end';
    return this.#rest === '' ? undefined : 'the last line is not whole';
  }

  async add(bytes: Buffer): Promise<readonly string[]> {
    if (this.#isFirst && bytes[0] === 0x1f && bytes[1] === 0x8b) this.#decompressor = new Decompressor();
    this.#isFirst = false;
    if (this.#decompressor?.problem !== undefined || this.#endless) return [];
    // Only new text is searched: a line may have all workloads of a machine.
    const added = this.#decompressor ? await this.#decompressor.add(bytes) : bytes;
    const [first = '', ...more] = this.#decoder.decode(added, { stream: true }).split('\n');
    const last = more.pop();
    this.#rest += first;
    if (last === undefined) {
      this.#endless = this.#rest.length > LINE_CHARACTERS;
      return [];
    }
    const lines = [this.#rest, ...more];
    this.#rest = last;
    return lines;
  }

  close(): void {
    this.#decompressor?.close();
  }
}

async function* piecesOf(file: FileHandle, path: string): AsyncGenerator<Buffer, void> {
  for (let offset = 0; ;) {
    const bytes = await readAt(file, offset, path);
    if (bytes.length === 0) return;
    offset += bytes.length;
    yield bytes;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // opening a pipe without a writer would block
  } catch (error) {
    throw unreadable(path, errnoName(error) ?? String(error), error);
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw unreadable(path, 'it is not a regular file', undefined);
}

async function readAt(file: FileHandle, offset: number, path: string): Promise<Buffer> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, offset);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw unreadable(path, errnoName(error) ?? String(error), error);
  }
}

function unreadable(path: string, why: string, cause: unknown): InputError {
  const hint = 'name the file that evictd run --record writes, and check that you may read it';
  return new InputError('EVICTD_RECORDING_FILE', `${path} cannot be read: ${why}`, { isMissing: true, hint, cause });
}
