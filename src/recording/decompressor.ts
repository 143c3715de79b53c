import { constants, createGunzip } from 'node:zlib';
import { Pieces } from './byte-pieces.js';

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
