import type { Signal } from '../signal/signal.js';

export type NotifierMechanism = 'memcg_threshold' | 'sampler' | 'psi_trigger' | 'memcg_events' | 'memcg_oom' | 'memory_notification';

/** A source of notifications. `signal`: what it watches. */
export interface NotifierState {
  readonly mechanism: NotifierMechanism;
  readonly signal: Signal;
  /** The file or cgroup, and the limit: 'memory.usage_in_bytes ≥ 201326592 of /demo'. */
  readonly target: string;
  readonly live: boolean;
  /**
   * Why it is not live. Of a live one: why it could not be moved to the right value; `target` is the value where it is.
   */
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  /** Whether its signal is polled without it. false: it is only an additional source. */
  readonly essential: boolean;
  /** The current period of a live sampler, which depends on the distance to the limit. */
  readonly periodMs?: number | undefined;
}
