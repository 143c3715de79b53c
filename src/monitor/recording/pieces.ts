import type { Readable } from 'node:stream';

/** What a stream has given out and nobody has taken yet. */
export class Pieces {
  #pieces: Buffer[] = [];

  constructor(stream: Readable) {
    stream.on('data', (piece: Buffer) => this.#pieces.push(piece));
  }

  async taken(): Promise<Buffer> {
    await new Promise((resolve) => setImmediate(resolve)); // what the stream emits on the next tick is here by then
    const piece = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return piece;
  }
}
