export const MAX_WAIT_MS = 30_000;
const MIN_WAIT_MS = 1_000;

/**
 * The wait before a request that has failed is made again: 1 to 2 s at first, then 1 to 4 s, at most 1 to 30 s. It is random, so that
 * nodes that have lost the same server do not ask at the same time.
 *
 * @param failures  in a row, from 1
 * @param random  0 to 1
 * @param mostMs  the longest wait
 */
export function backOffMs(failures: number, random: number, mostMs = MAX_WAIT_MS): number {
  const least = Math.min(MIN_WAIT_MS, mostMs);
  const most = Math.min(MIN_WAIT_MS * 2 ** failures, mostMs);
  return Math.round(least + random * (most - least));
}

/** A wait, or the longer one that the server has asked for (Retry-After), of which at most `mostMs` count. */
export function withRetryAfter(waitMs: number, retryAfterSeconds = 0, mostMs = MAX_WAIT_MS): number {
  return Math.max(waitMs, Math.min(retryAfterSeconds * 1_000, mostMs));
}
