import { minBigInt } from '../quantity/integer.js';

/** A dying victim blocks further evictions for its resource at most this long, … */
const TOTAL_NS = 10_000_000_000n;
/** … or, while another eviction is due, until nothing of it has moved for this long. */
const NO_PROGRESS_NS = 1_000_000_000n;

/**
 * The exit frees several GiB a second, but a GiB of swap, of huge pages or of memory that a device had pinned takes up to
 * some seconds. So with departure node-yield the times grow with the victim's size, …
 */
const SIZE = 2n ** 30n;
/** … up to this: a victim may also be stuck in the kernel, and then the next one has to go. */
const MAX_TOTAL_NS = 60_000_000_000n;
const MAX_NO_PROGRESS_NS = 10_000_000_000n;

export interface ExitTimeouts {
  readonly noProgressNs: bigint;
  readonly totalNs: bigint;
}

/** @param bytes  the victim's memory and swap; 0: the size does not count */
export function exitTimeoutsFor(bytes: bigint): ExitTimeouts {
  const grown = (ns: bigint, most: bigint): bigint => minBigInt(ns + (ns * bytes) / SIZE, most);
  return { noProgressNs: grown(NO_PROGRESS_NS, MAX_NO_PROGRESS_NS), totalNs: grown(TOTAL_NS, MAX_TOTAL_NS) };
}
