/** Work on one directory, one after the other: a directory that hangs keeps one thread of libuv's pool busy, of four. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins `work` when the work before is over. Rejects as `work` does; the next one begins all the same. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined); // its caller handles it
    return turn;
  }
}
