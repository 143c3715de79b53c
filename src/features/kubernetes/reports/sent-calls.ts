/** When the calls for evicted pods were sent, by uid (monotonic). */
export class SentCalls {
  readonly #firstNs = new Map<string, bigint>();
  /** When the call that has no answer yet was sent. */
  #openNs: bigint | undefined;

  /**
   * When the first call for a pod was sent. A pod whose calls wait for those of another has waited since the call that the server
   * does not answer. undefined: its calls wait only for the rate limit of the client.
   */
  sinceNs(uid: string): bigint | undefined {
    return this.#firstNs.get(uid) ?? this.#openNs;
  }

  sending(uid: string): void {
    this.#openNs = process.hrtime.bigint();
    this.#began(uid, this.#openNs);
  }

  /** The call that was sent last has an answer, or has failed. */
  over(): void {
    this.#openNs = undefined;
  }

  /** The server does not take calls now: these pods have waited for it since. */
  failed(uids: Iterable<string>): void {
    const nowNs = process.hrtime.bigint();
    for (const uid of uids) this.#began(uid, nowNs);
  }

  /** The pod is evicted again. */
  forget(uid: string): void {
    this.#firstNs.delete(uid);
  }

  /** @param isPending  others are forgotten */
  keepOnly(isPending: (uid: string) => boolean): void {
    for (const uid of this.#firstNs.keys()) if (!isPending(uid)) this.#firstNs.delete(uid);
  }

  #began(uid: string, atNs: bigint): void {
    if (!this.#firstNs.has(uid)) this.#firstNs.set(uid, atNs);
  }
}
