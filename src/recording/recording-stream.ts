import { InputError } from '../errors.js';
import type { RecordingEntry, RecordingHeader } from './recording-format.js';
import { linesOf, type RecordingLine } from './recording-lines.js';
import { isHeader, readHeader, RecordingLineError, RecordingReading } from './line-reading.js';

/** The next run of evictd that wrote to the same file. */
export interface RunBegins {
  readonly kind: 'run';
  readonly header: RecordingHeader;
  readonly before: RecordingEnd;
}

export interface NumberedEntry {
  readonly line: number;
  readonly entry: RecordingEntry | RunBegins;
}

/**
 * How a run ends: with its last line (whole); without it, because it is still being written or evictd was killed
 * (open); or incomplete (cut).
 */
export type RecordingEnd = { readonly kind: 'whole' } | { readonly kind: 'open' } | { readonly kind: 'cut'; readonly reason: string };

/** A recording, from its beginning. Every run is read as far as it is whole. */
export class RecordingStream {
  end: RecordingEnd = { kind: 'open' };

  private constructor(
    private readonly path: string,
    readonly header: RecordingHeader,
    private readonly lines: AsyncGenerator<RecordingLine, string | undefined>,
    /** The reason for each run so far that cannot be read at all. */
    readonly damages: string[],
  ) {}

  /** @throws InputError  there is no such file, it is empty, or it is not a recording */
  static async open(path: string): Promise<RecordingStream> {
    const lines = linesOf(path);
    const damages: string[] = [];
    for (;;) {
      const next = await lines.next();
      if (next.done) throw emptyError(path, next.value, damages[0]);
      if (next.value.kind !== 'line') {
        damages.push(next.value.reason);
        continue;
      }
      try {
        return new RecordingStream(path, readHeader(next.value.text), lines, damages);
      } catch (error) {
        await lines.return(undefined);
        throw wrong(path, 1, error, true);
      }
    }
  }

  /** Not needed after `entries` has ended. */
  async close(): Promise<void> {
    await this.lines.return(undefined);
  }

  /** @throws InputError  with the number of the line that is wrong */
  async *entries(): AsyncGenerator<NumberedEntry> {
    let reading = new RecordingReading();
    let number = 1;
    try {
      for await (const line of this.lines) {
        if (line.kind === 'cut') {
          this.end = line;
          continue;
        }
        if (line.kind === 'lost') {
          this.damages.push(line.reason);
          continue;
        }
        number += 1;
        if (isHeader(line.text)) {
          const header = this.#read(number, true, () => readHeader(line.text));
          const before = this.end;
          reading = new RecordingReading();
          this.end = { kind: 'open' };
          yield { line: number, entry: { kind: 'run', header, before } };
          continue;
        }
        const entry = this.#read(number, false, () => reading.entry(line.text));
        this.end = { kind: entry?.kind === 'end' ? 'whole' : 'open' };
        if (entry) yield { line: number, entry };
      }
    } finally {
      await this.close(); // also where the caller stops early
    }
  }

  #read<T>(line: number, isFirst: boolean, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw wrong(this.path, line, error, isFirst);
    }
  }
}

function emptyError(path: string, reason: string | undefined, damage: string | undefined): InputError {
  if (damage !== undefined) {
    const hint = `no step of it can be read; ${path}.1, if it exists, is the previous recording`;
    return new InputError('EVICTD_RECORDING_LINE', `${path}:1: ${damage}`, { isMissing: false, hint });
  }
  const why = reason === undefined ? '' : `: ${reason}`;
  const hint = 'a recording begins with its first step, and is written about a second later';
  return new InputError('EVICTD_RECORDING_EMPTY', `${path} has no whole line${why}`, { isMissing: false, hint });
}

/** @param isFirst  of a run */
function wrong(path: string, line: number, error: unknown, isFirst: boolean): unknown {
  if (!(error instanceof RecordingLineError)) return error;
  return new InputError(isFirst ? 'EVICTD_RECORDING_FORMAT' : 'EVICTD_RECORDING_LINE', `${path}:${String(line)}: ${error.message}`, {
    isMissing: false,
    hint: isFirst
      ? 'name a file that evictd run --record has written; another format needs the version of evictd that wrote it'
      : 'this line was changed or damaged; the lines before it can be replayed on their own',
  });
}
