import { open, type FileHandle } from 'node:fs/promises';
import { errnoName, InputError } from '../../errors.js';
import { Decompressor } from './decompressor.js';
import { readHeader, RecordingLineError, RecordingReading } from './reading.js';
import type { RecordingEntry, RecordingHeader } from './format.js';

/** No line of a recording comes near it: what is longer is another file. */
const LINE_CHARACTERS = 64 * 1024 * 1024;

/** What is read in one go. Of a damaged file everything before the damaged piece is read. */
const PIECE_BYTES = 4 * 1024;

export interface NumberedEntry {
  readonly line: number;
  readonly entry: RecordingEntry;
}

/** How a recording ends: with its last line; without it, because it is still being written or evictd was killed; or in the middle of something. */
export type RecordingEnd = { readonly kind: 'whole' } | { readonly kind: 'open' } | { readonly kind: 'cut'; readonly reason: string };

/** A recording, read from its beginning to where it is whole. Gzip, or the lines themselves. */
export class RecordingStream {
  readonly header: RecordingHeader;
  readonly #path: string;
  readonly #lines: AsyncGenerator<string, string | undefined>;
  /** Known when all entries were read. */
  end: RecordingEnd = { kind: 'open' };

  private constructor(path: string, header: RecordingHeader, lines: AsyncGenerator<string, string | undefined>) {
    this.#path = path;
    this.header = header;
    this.#lines = lines;
  }

  /** @throws InputError  where there is none, it is empty, or it is something else */
  static async open(path: string): Promise<RecordingStream> {
    const lines = linesOf(path);
    const first = await lines.next();
    if (first.done) throw emptyError(path, first.value);
    try {
      return new RecordingStream(path, readHeader(first.value), lines);
    } catch (error) {
      await lines.return(undefined);
      throw wrong(path, 1, error);
    }
  }

  /** @throws InputError  with the number of the line that is wrong */
  async *entries(): AsyncGenerator<NumberedEntry> {
    const reading = new RecordingReading();
    let line = 1;
    let ended = false;
    try {
      for (;;) {
        const next = await this.#lines.next();
        if (next.done) {
          this.end = next.value !== undefined ? { kind: 'cut', reason: next.value } : { kind: ended ? 'whole' : 'open' };
          return;
        }
        line += 1;
        const entry = this.#entry(reading, next.value, line);
        ended = entry?.kind === 'end';
        if (entry) yield { line, entry };
      }
    } finally {
      await this.#lines.return(undefined); // closes the file, whoever has seen enough
    }
  }

  #entry(reading: RecordingReading, text: string, line: number): RecordingEntry | undefined {
    try {
      return reading.entry(text);
    } catch (error) {
      throw wrong(this.#path, line, error);
    }
  }
}

/** Whole lines; returns why there are no more of them, undefined at a proper end. */
async function* linesOf(path: string): AsyncGenerator<string, string | undefined> {
  const file = await openFile(path);
  const decoder = new TextDecoder();
  let decompressor: Decompressor | undefined;
  let rest = '';
  try {
    for (let offset = 0; ;) {
      const bytes = await readAt(file, offset, path);
      if (bytes.length === 0) break;
      if (offset === 0 && isGzip(bytes)) decompressor = new Decompressor();
      offset += bytes.length;
      // Only what is new is searched: a line may be as long as all workloads of a machine.
      const [first = '', ...more] = decoder.decode(decompressor ? await decompressor.add(bytes) : bytes, { stream: true }).split('\n');
      rest += first;
      const next = more.pop();
      if (next !== undefined) {
        yield rest;
        yield* more;
        rest = next;
      }
      if (decompressor?.problem !== undefined) return decompressor.problem;
      if (rest.length > LINE_CHARACTERS) return 'a line has no end';
    }
    return rest === '' ? undefined : 'the last line is not whole';
  } finally {
    decompressor?.close();
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readAt(file: FileHandle, offset: number, path: string): Promise<Buffer> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, offset);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unreadable(path: string, cause: unknown): InputError {
  const hint = 'name the file that evictd run --record writes, and see that you may read it';
  return new InputError('EVICTD_RECORDING_FILE', `${path} cannot be read: ${errnoName(cause) ?? String(cause)}`, {
    isMissing: true,
    hint,
    cause,
  });
}

function emptyError(path: string, reason: string | undefined): InputError {
  const why = reason === undefined ? '' : `: ${reason}`;
  const hint = 'a recording begins with its first step, and is written about a second later';
  return new InputError('EVICTD_RECORDING_EMPTY', `${path} has no whole line${why}`, { isMissing: false, hint });
}

function wrong(path: string, line: number, error: unknown): unknown {
  if (!(error instanceof RecordingLineError)) return error;
  const isFormat = error.reason === 'format' || line === 1;
  return new InputError(isFormat ? 'EVICTD_RECORDING_FORMAT' : 'EVICTD_RECORDING_LINE', `${path}:${String(line)}: ${error.message}`, {
    isMissing: false,
    hint: isFormat
      ? 'name a file that evictd run --record has written; another format needs the evictd of its time'
      : 'this line was changed or damaged; what stands before it can be replayed on its own',
  });
}
