const SPACING_NS = 5_000_000n;
/** Wakes that are handled at once after a quiet time: the first ones of an approach often decide nothing. */
const AT_ONCE = 8n;

/**
 * Keeps a value that oscillates around its threshold from using a whole core: wakes that decide nothing are handled every
 * 5 ms at most, on average. A few in a row are not delayed, because the next one may be the crossing.
 */
export class WakeThrottle {
  /** When the wakes that decided nothing are paid for, at one every 5 ms. */
  #paidAtNs = 0n;

  handled(nowNs: bigint, decided: boolean): void {
    const sinceNs = this.#paidAtNs > nowNs ? this.#paidAtNs : nowNs;
    this.#paidAtNs = decided ? 0n : sinceNs + SPACING_NS;
  }

  /** When a wake that arrives now may be handled. */
  notBeforeNs(nowNs: bigint): bigint {
    const earliest = this.#paidAtNs - (AT_ONCE - 1n) * SPACING_NS;
    return earliest > nowNs ? earliest : nowNs;
  }
}
