import { backOffMs } from '../../../core/kubernetes/back-off.js';
import type { ApiAnswer } from '../../../core/kubernetes/eviction-answer.js';
import type { ApiCall } from '../../../core/kubernetes/pod-call.js';

/** Rejects where there is no answer. `tokens`: as of ApiRequest. */
export type Ask = (call: ApiCall & { readonly withinMs: number; readonly tokens?: number }) => Promise<ApiAnswer>;

/** What outlives a restart. */
export interface SavedSection<Before> {
  /** From the saved state of the previous evictd. */
  readonly before: Before;
  /** Written at once. undefined: nothing. */
  keep(value: unknown): void;
}

/** The timeout of each request. */
export const WITHIN_MS = 10_000;

export const randomPauseMs = (failures: number): number => backOffMs(failures, Math.random());
