import type { Decision } from '../../core/decide/eviction.js';

/** What happens between the record of a decision and its first signal. */
export interface BeforeSignal {
  /**
   * Called once for an eviction that this process began, not for a dry run, a standing order or a resumed eviction.
   * Does not wait or throw. true: the signal waits until `go` is called, which happens later, and once. false: it is
   * sent at once.
   */
  before(decision: Decision, go: () => void): boolean;
}
