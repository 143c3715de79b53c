import { WHOLE_SHARE } from '../../core/signal.js';

/** What the kernel had counted at a moment. */
interface Total {
  readonly timeNs: bigint;
  readonly stalledUs: bigint;
}

/** More entries than this in one window say no more. */
const PARTS = 16n;
/**
 * The last readings of one `total=`, so that the share of the last window is known wherever it begins: between two readings the time is taken for evenly
 * lost. Over more than a window it is not: what was lost before the window must not be held against whoever runs in it.
 */
export class StallRing {
  readonly #windowNs: bigint;
  #totals: Total[] = [];

  constructor(windowNs: bigint) {
    this.#windowNs = windowNs;
  }

  /** Takes a reading over, and gives the share of the window before it, in billionths of the wall time; undefined: what was then is not known. */
  add(timeNs: bigint, stalledUs: bigint): bigint | undefined {
    const newest = this.#totals.at(-1);
    // A cgroup that was removed and made again counts from 0; a clock cannot run backwards here.
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

  /** Since `beginNs`, which lies between the two oldest. */
  #share(now: Total, beginNs: bigint): bigint | undefined {
    const [before = now, after = now] = this.#totals;
    const gapNs = after.timeNs - before.timeNs;
    if (gapNs > this.#windowNs) return undefined;
    const lostUs = gapNs === 0n ? 0n : ((after.stalledUs - before.stalledUs) * (beginNs - before.timeNs)) / gapNs;
    const share = ((now.stalledUs - before.stalledUs - lostUs) * 1_000n * WHOLE_SHARE) / this.#windowNs;
    return share > WHOLE_SHARE ? WHOLE_SHARE : share;
  }
}
