import { WHOLE_SHARE } from '../../../core/signal/signal.js';

interface Total {
  readonly timeNs: bigint;
  readonly stalledUs: bigint;
}

/** More entries than this in one window add no precision. */
const PARTS = 16n;
/**
 * The last readings of one `total=`, to know the share of the window before any moment by interpolation. A gap of more
 * than a window is not interpolated: a stall before the window must not count in it.
 */
export class StallRing {
  readonly #windowNs: bigint;
  #totals: Total[] = [];

  constructor(windowNs: bigint) {
    this.#windowNs = windowNs;
  }

  /**
   * Adds a reading. Returns the share of the window before it in billionths of wall time; undefined: the reading at its
   * start is unknown.
   */
  add(timeNs: bigint, stalledUs: bigint): bigint | undefined {
    const newest = this.#totals.at(-1);
    // A recreated cgroup counts from 0.
    if (newest !== undefined && (stalledUs < newest.stalledUs || timeNs < newest.timeNs)) this.#totals = [];
    const now = { timeNs, stalledUs };
    const beginNs = timeNs - this.#windowNs;
    const first = this.#totals.findLastIndex((total) => total.timeNs <= beginNs);
    if (first > 0) this.#totals.splice(0, first);
    const share = first === -1 ? undefined : this.#share(now, beginNs);
    const last = this.#totals.at(-1);
    if (last === undefined || timeNs - last.timeNs >= this.#windowNs / PARTS) this.#totals.push(now);
    return share;
  }

  /** Since `beginNs`, which lies between the two oldest readings. */
  #share(now: Total, beginNs: bigint): bigint | undefined {
    const [before = now, after = now] = this.#totals;
    const gapNs = after.timeNs - before.timeNs;
    if (gapNs > this.#windowNs) return undefined;
    const lostUs = gapNs === 0n ? 0n : ((after.stalledUs - before.stalledUs) * (beginNs - before.timeNs)) / gapNs;
    const share = ((now.stalledUs - before.stalledUs - lostUs) * 1_000n * WHOLE_SHARE) / this.#windowNs;
    return share > WHOLE_SHARE ? WHOLE_SHARE : share;
  }
}
