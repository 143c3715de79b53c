import { constants, createGzip } from 'node:zlib';
import { Pieces } from './byte-pieces.js';

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
