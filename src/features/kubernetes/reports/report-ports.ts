import { backOffMs, withRetryAfter } from '../../../core/kubernetes/back-off.js';
import type { ApiAnswer } from '../../../core/kubernetes/eviction-answer.js';
import type { ApiCall } from '../../../core/kubernetes/pod-call.js';

/** Rejects where there is no answer. Limits and `beforeSend`: as of ApiRequest. */
export type Ask = (call: ApiCall & Limits) => Promise<ApiAnswer>;

interface Limits {
  readonly withinMs: number;
  readonly queuedMs?: number;
  readonly tokens?: number;
  readonly beforeSend?: () => void;
}

/** What outlives a restart. */
export interface SavedSection<Before> {
  /** From the saved state of the previous evictd. */
  readonly before: Before;
  /** Written at once. undefined: nothing. */
  keep(value: unknown): void;
}

/** The timeout of each request. */
export const WITHIN_MS = 10_000;

/**
 * How long a request that ends a pod may wait for the rate limit of the client before its timeout begins: many pods may be evicted at
 * once.
 */
export const QUEUED_MS = 60_000;

export const randomPauseMs = (failures: number): number => backOffMs(failures, Math.random());

/**
 * For one part that repeats its requests: a wait is not shorter than the answers since the wait before have asked for (Retry-After).
 */
export function followingRetryAfter(ask: Ask, ownMs = randomPauseMs): { readonly ask: Ask; readonly pauseMs: typeof randomPauseMs } {
  let seconds = 0;
  return {
    ask: async (call) => {
      const answer = await ask(call);
      if (answer.status >= FAILURES) seconds = Math.max(seconds, answer.retryAfterSeconds ?? 0);
      return answer;
    },
    pauseMs: (failures) => {
      const askedFor = seconds;
      seconds = 0;
      return withRetryAfter(ownMs(failures), askedFor);
    },
  };
}

const FAILURES = 400;
