/** Wakes that decide nothing are followed at this distance; the first one at once. */
const SPACING_NS = 5_000_000n;

/**
 * Keeps a value that dances around its threshold from taking a whole core: after a wake that decided nothing the next one is looked
 * at 5 ms later at the earliest.
 */
export class Pace {
  #quietSinceNs: bigint | undefined;

  /** A wake was looked at. */
  passed(nowNs: bigint, decided: boolean): void {
    this.#quietSinceNs = decided ? undefined : nowNs;
  }

  /** When a wake that arrives now may be looked at. */
  notBeforeNs(nowNs: bigint): bigint {
    const earliest = (this.#quietSinceNs ?? 0n) + SPACING_NS;
    return this.#quietSinceNs === undefined || earliest < nowNs ? nowNs : earliest;
  }
}
