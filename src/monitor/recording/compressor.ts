import { constants, createGzip } from 'node:zlib';
import { Pieces } from './pieces.js';

/** One gzip stream, given out piece by piece: each piece can be read as soon as it and those before it are there. On libuv's pool. */
export class Compressor {
  readonly #gzip = createGzip();
  readonly #pieces = new Pieces(this.#gzip);

  async add(text: string): Promise<Buffer> {
    this.#gzip.write(text);
    await new Promise<void>((resolve) => {
      this.#gzip.flush(constants.Z_SYNC_FLUSH, resolve);
    });
    return this.#pieces.taken();
  }

  async end(text: string): Promise<Buffer> {
    const ended = new Promise((resolve) => this.#gzip.once('end', resolve));
    this.#gzip.end(text);
    await ended;
    return this.#pieces.taken();
  }

  close(): void {
    this.#gzip.close();
  }
}
