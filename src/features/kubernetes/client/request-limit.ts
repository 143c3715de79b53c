export const NO_ANSWER = 'no answer in time';

/**
 * Aborts a request at its timeout, or when its client closes. It is not AbortSignal.any(), which keeps some bytes of each request as
 * long as the client is there.
 */
export class RequestLimit {
  readonly #controller = new AbortController();
  readonly #open: Set<RequestLimit>;
  #timer: NodeJS.Timeout | undefined;

  /** @param open  the requests of the client, to which this one is added until it is over */
  constructor(open: Set<RequestLimit>, ms: number) {
    this.#open = open;
    open.add(this);
    this.within(ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The timeout counts anew. */
  within(ms: number, why = NO_ANSWER): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.abort(why);
    }, ms).unref();
  }

  abort(why: string): void {
    this.#controller.abort(new Error(why));
  }

  over(): void {
    clearTimeout(this.#timer);
    this.#open.delete(this);
  }
}
