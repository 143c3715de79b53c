import { constants, fstatSync, openSync, write } from 'node:fs';
import { Socket } from 'node:net';
import { attempt } from '../errors.js';

/** Limit of the lines that wait for a slow reader. */
const MAX_WAITING_BYTES = 256 * 1024;
const RETRY_MS = 50;

/** Writes one chunk at a time without blocking, then calls `done`. */
export type Sink = (chunk: Buffer, done: (error?: Error | null) => void) => void;

/** A bounded queue of lines: writes them in order, one chunk at a time, and drops and counts lines beyond the limit. */
export class Destination {
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing = false;
  #failing = false;
  #dropped = 0;
  #flushed: (() => void)[] = [];

  constructor(private readonly sink: Sink) {}

  /** Lines lost because the queue was full or a write failed. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether the last write succeeded and at least half of the queue is free. */
  get ready(): boolean {
    return !this.#failing && this.#waitingBytes <= MAX_WAITING_BYTES / 2;
  }

  /** @param line  with its line feed */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#next();
  }

  /** Resolves when the queue is empty, at the latest after `timeoutMs`. Never rejects. */
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
    this.sink(Buffer.concat(lines), (error) => {
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
 * A pipe is reopened: O_NONBLOCK belongs to the open file description, which other processes share. A socket (the
 * journal's) cannot be reopened; `process.stderr` made it non-blocking. Writes to a file or terminal block a thread of
 * libuv's pool. So do writes to an unknown descriptor; a Windows service has no standard error, so each write fails and
 * is counted.
 */
export function standardError(): Sink {
  const stat = attempt(() => fstatSync(2));
  if (stat?.isFIFO() || stat?.isSocket()) return streamSink(stat.isFIFO() ? (reopened() ?? process.stderr) : process.stderr);
  return fileSink(2);
}

function reopened(): Socket | undefined {
  try {
    const fd = openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: false, writable: true }).unref();
  } catch {
    return undefined; // ENXIO: no reader; EACCES: another user's pipe
  }
}

function streamSink(stream: NodeJS.WritableStream): Sink {
  stream.on('error', () => undefined); // the callback of each write gets it too
  return (chunk, done) => stream.write(chunk, done);
}

/** fs.write may be partial; EAGAIN: another process made the terminal or file non-blocking. */
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
