import { constants, fstatSync, openSync, write, type Stats } from 'node:fs';
import { Socket } from 'node:net';

/** What waits for a slow reader, at most. */
const MAX_WAITING_BYTES = 256 * 1024;
const RETRY_MS = 50;

/** Takes one chunk at a time; `done` when it was taken, or with the error. Never blocks the caller. */
export type Sink = (chunk: Buffer, done: (error?: Error | null) => void) => void;

/**
 * Lines on their way out: in order, one write under way, a bounded number waiting. Beyond that lines are dropped and counted, because a daemon that
 * waits for the reader of its log does not guard anything.
 */
export class Destination {
  readonly #sink: Sink;
  readonly #maxWaitingBytes: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing = false;
  #failing = false;
  #dropped = 0;
  #flushed: (() => void)[] = [];

  constructor(sink: Sink, maxWaitingBytes = MAX_WAITING_BYTES) {
    this.#sink = sink;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** Lines that nobody will read: there was no room, or the write failed. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether a line written now is likely to be read: the last write succeeded, and not much waits. */
  get ready(): boolean {
    return !this.#failing && this.#waitingBytes <= this.#maxWaitingBytes / 2;
  }

  /** One line, with its line end. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#maxWaitingBytes) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#next();
  }

  /** Resolves when all that was written is out, or after `timeoutMs`: never later, never with an error. */
  flush(timeoutMs: number): Promise<void> {
    if (!this.#writing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#flushed.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #next(): void {
    if (this.#writing) return;
    if (this.#waiting.length === 0) {
      const flushed = this.#flushed;
      this.#flushed = [];
      for (const resolve of flushed) resolve();
      return;
    }
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writing = true;
    this.#sink(Buffer.concat(lines), (error) => {
      this.#writing = false;
      this.#failing = Boolean(error);
      if (error) this.#dropped += lines.length;
      this.#next();
    });
  }
}

/**
 * Standard error as a sink that never blocks, neither the event loop nor the exit of the process.
 *
 * A pipe is opened anew: non-blocking is a property of the open file, which other processes share and switch. Sockets (the journal's) cannot be
 * opened anew; `process.stderr` has made them non-blocking. A write to a file or terminal waits in a thread of libuv's pool, and so does one to what cannot be told, as where a service of
 * Windows has no standard error: there each write fails, and is counted.
 */
export function standardError(): Sink {
  const stat = statOf(2);
  if (stat?.isFIFO() || stat?.isSocket()) return streamSink(stat.isFIFO() ? (reopened() ?? process.stderr) : process.stderr);
  return fileSink(2);
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}

function reopened(): Socket | undefined {
  try {
    const fd = openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: false, writable: true }).unref();
  } catch {
    return undefined; // ENXIO: nobody reads; EACCES: another user's pipe
  }
}

function streamSink(stream: NodeJS.WritableStream): Sink {
  stream.on('error', () => undefined); // each write's callback has it, too
  return (chunk, done) => stream.write(chunk, done);
}

/** fs.write may take a part; EAGAIN: a terminal or file that another process made non-blocking. */
function fileSink(fd: number): Sink {
  return (chunk, done) => {
    const rest = (from: number): void => {
      write(fd, chunk, from, (error, written) => {
        if (error?.code === 'EAGAIN') setTimeout(rest, RETRY_MS, from).unref();
        else if (error || from + written >= chunk.length) done(error);
        else rest(from + written);
      });
    };
    rest(0);
  };
}
