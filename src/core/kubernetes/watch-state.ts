import { backOffMs, MAX_WAIT_MS, withRetryAfter } from './back-off.js';

/** How objects are followed: a list, then watches from its version on, and another list where the version has expired. */
export interface WatchState {
  readonly next: { readonly kind: 'list' | 'watch'; readonly resourceVersion: string };
  /** Attempts in a row without a usable answer. */
  readonly failures: number;
  /** The wait before `next`. */
  readonly waitMs: number;
}

export type WatchOutcome =
  | { readonly kind: 'listed'; readonly resourceVersion: string }
  /** The server has ended the watch. `resourceVersion`: the last one that it has sent. */
  | { readonly kind: 'ended'; readonly resourceVersion: string; readonly lastedMs: number }
  /** Its connection was cut before, though it had lasted: a proxy does that where nothing is sent for a while. */
  | { readonly kind: 'cut'; readonly resourceVersion: string }
  /** The server does not have the version any more (410). */
  | { readonly kind: 'expired' }
  /** No usable answer. `resourceVersion`: the last one of a watch. Left out: none. */
  | { readonly kind: 'failed'; readonly resourceVersion?: string; readonly retryAfterSeconds?: number };

/** After this number of failures evictd lists again: a restored cluster may never reach the version of a watch. */
const MAX_WATCH_FAILURES = 5;
/** A server that ends each watch at once would be asked without a pause. */
const SHORT_MS = 1_000;

/** Version '0': any, from the server's cache, which is cheap for it (client-go: Reflector.relistResourceVersion). */
export const FIRST_WATCH: WatchState = { next: { kind: 'list', resourceVersion: '0' }, failures: 0, waitMs: 0 };

/** @param random  0 to 1 @param mostMs  the longest wait */
export function nextWatch(state: WatchState, outcome: WatchOutcome, random: number, mostMs = MAX_WAIT_MS): WatchState {
  const again = (next: WatchState['next']): WatchState => ({
    next,
    failures: state.failures + 1,
    waitMs: backOffMs(state.failures + 1, random, mostMs),
  });
  switch (outcome.kind) {
    case 'listed':
      // A list alone ends no row of failures: it would be made again and again where each watch fails.
      return { next: { kind: 'watch', resourceVersion: outcome.resourceVersion }, failures: state.failures, waitMs: 0 };
    case 'ended':
      if (outcome.lastedMs < SHORT_MS) return again({ kind: 'watch', resourceVersion: outcome.resourceVersion });
      return { next: { kind: 'watch', resourceVersion: outcome.resourceVersion }, failures: 0, waitMs: 0 };
    case 'cut': // no failure; later, because a server that restarts cuts those of all nodes
      return { next: { kind: 'watch', resourceVersion: outcome.resourceVersion }, failures: 0, waitMs: backOffMs(1, random, mostMs) };
    case 'expired': {
      // '': the newest. The cache of another server may be older than what was seen already.
      const list = { kind: 'list', resourceVersion: '' } as const;
      return state.failures === 0 ? { next: list, failures: 1, waitMs: 0 } : again(list);
    }
    case 'failed': {
      const { resourceVersion = state.next.resourceVersion, retryAfterSeconds } = outcome;
      const isLost = state.next.kind === 'watch' && state.failures + 1 >= MAX_WATCH_FAILURES;
      const waits = again(isLost ? FIRST_WATCH.next : { ...state.next, resourceVersion });
      return { ...waits, waitMs: withRetryAfter(waits.waitMs, retryAfterSeconds, mostMs) };
    }
  }
}

/** How long a watch may last, in seconds: the server ends it then, after a bookmark. */
export function watchSeconds(random: number): number {
  return Math.round(35 + random * 10);
}

/** A watch that the server has not ended so long after its time is stale. With the wait that follows: within 60 s. */
export const WATCH_OVERDUE_MS = 8_000;
