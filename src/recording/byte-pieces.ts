import type { Readable } from 'node:stream';

/** Collects the output of a stream. */
export class Pieces {
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
