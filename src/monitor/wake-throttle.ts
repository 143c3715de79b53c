const SPACING_NS = 5_000_000n;

/**
 * Keeps a value that oscillates around its threshold from using a whole core: after a wake that decided nothing, the
 * next one is handled 5 ms later at the earliest.
 */
export class WakeThrottle {
  #quietSinceNs: bigint | undefined;

  handled(nowNs: bigint, decided: boolean): void {
    this.#quietSinceNs = decided ? undefined : nowNs;
  }

  /** When a wake that arrives now may be handled. */
  notBeforeNs(nowNs: bigint): bigint {
    const earliest = (this.#quietSinceNs ?? 0n) + SPACING_NS;
    return this.#quietSinceNs === undefined || earliest < nowNs ? nowNs : earliest;
  }
}
