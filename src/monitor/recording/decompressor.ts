import { constants, createGunzip } from 'node:zlib';
import { Pieces } from './pieces.js';

/** Undoes gzip as far as it goes: what ends in the middle or is damaged is given out up to there. */
export class Decompressor {
  readonly #gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  readonly #pieces = new Pieces(this.#gunzip);
  /** Why there is no more; undefined: nothing is wrong. */
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
    return this.#pieces.taken();
  }

  close(): void {
    this.#gunzip.close();
  }
}
