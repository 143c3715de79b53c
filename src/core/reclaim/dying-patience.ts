import { least } from '../quantity/integer.js';

/** A dying victim blocks further evictions for its resource at most this long, … */
const AT_MOST_NS = 10_000_000_000n;
/** … or, while another eviction is due, until nothing of it has moved for this long. */
const STILL_NS = 1_000_000_000n;

/**
 * The exit frees several GiB a second, but a GiB of swap, of huge pages or of memory that a device had pinned takes up to
 * some seconds. So with departure node-yield the times grow with the victim's size, …
 */
const SIZE = 2n ** 30n;
/** … up to this: a victim may also be stuck in the kernel, and then the next one has to go. */
const LARGE_AT_MOST_NS = 60_000_000_000n;
const LARGE_STILL_NS = 10_000_000_000n;

export interface Patience {
  readonly stillNs: bigint;
  readonly atMostNs: bigint;
}

/** @param bytes  the victim's memory and swap; 0: the size does not count */
export function patienceFor(bytes: bigint): Patience {
  const grown = (ns: bigint, most: bigint): bigint => least(ns + (ns * bytes) / SIZE, most);
  return { stillNs: grown(STILL_NS, LARGE_STILL_NS), atMostNs: grown(AT_MOST_NS, LARGE_AT_MOST_NS) };
}
