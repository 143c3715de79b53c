import type { Readable } from 'node:stream';
import { constants, createGzip, createGunzip } from 'node:zlib';

/**
 * The first bytes of every gzip member of a recording: deflate, no name, no time. Compressed data has these nine bytes
 * by chance once in 2^72.
 */
const BEGINNING = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0]);

/** A piece of one member. A file that is not compressed is one member. */
export interface MemberPiece {
  readonly begins: boolean;
  readonly bytes: Buffer;
}

/**
 * The members of a file, found by their first bytes: zlib finds the next member only behind a complete one, and a run
 * that was killed has not completed its own.
 */
export async function* membersOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<MemberPiece, void> {
  let held: Buffer = Buffer.alloc(0);
  let begins = true;
  for await (const piece of pieces) {
    held = Buffer.concat([held, piece]);
    for (let at = nextMember(held, begins); at !== -1; at = nextMember(held, begins)) {
      if (at > 0) yield { begins, bytes: held.subarray(0, at) };
      held = held.subarray(at);
      begins = true;
    }
    const sure = held.length - BEGINNING.length + 1; // the rest may be half of a beginning
    if (sure <= 0) continue;
    yield { begins, bytes: held.subarray(0, sure) };
    held = held.subarray(sure);
    begins = false;
  }
  if (held.length > 0) yield { begins, bytes: held };
}

/** @param begins  the bytes begin with a member, which is skipped */
function nextMember(bytes: Buffer, begins: boolean): number {
  return bytes.indexOf(BEGINNING, begins ? 1 : 0);
}

/** Collects the output of a stream. */
class Pieces {
  #pieces: Buffer[] = [];

  constructor(stream: Readable) {
    stream.on('data', (piece: Buffer) => this.#pieces.push(piece));
  }

  async take(): Promise<Buffer> {
    await new Promise((resolve) => setImmediate(resolve)); // output of the next tick is here by then
    const piece = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return piece;
  }
}

/**
 * One gzip stream, in pieces: each piece can be decompressed as soon as those before it are there. Works on libuv's
 * pool.
 */
export class Compressor {
  readonly #gzip = createGzip();
  readonly #pieces = new Pieces(this.#gzip);

  async add(text: string): Promise<Buffer> {
    this.#gzip.write(text);
    await new Promise<void>((resolve) => {
      this.#gzip.flush(constants.Z_SYNC_FLUSH, resolve);
    });
    return this.#pieces.take();
  }

  async end(text: string): Promise<Buffer> {
    const ended = new Promise((resolve) => this.#gzip.once('end', resolve));
    this.#gzip.end(text);
    await ended;
    return this.#pieces.take();
  }

  close(): void {
    this.#gzip.close();
  }
}

/** Decompresses gzip as far as possible: a stream that ends early or is damaged is read up to there. */
export class Decompressor {
  readonly #gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  readonly #pieces = new Pieces(this.#gunzip);
  /** Why the stream ends here; undefined: no error. */
  problem: string | undefined;

  #failed = (): void => undefined;

  constructor() {
    this.#gunzip.on('error', (error) => {
      this.problem ??= `the file is damaged: ${error.message}`;
      this.#failed();
    });
  }

  async add(bytes: Buffer): Promise<Buffer> {
    await new Promise<void>((resolve) => {
      this.#failed = resolve;
      this.#gunzip.write(bytes, () => {
        resolve();
      });
    });
    return this.#pieces.take();
  }

  close(): void {
    this.#gunzip.close();
  }
}
