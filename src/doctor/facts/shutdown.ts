import type { InhibitDelay } from '../../core/inhibit-delay.js';

export interface ShutdownFacts {
  /** What the configuration asks for; 0n: nothing. */
  readonly requestedNs: bigint;
  /** undefined: it was not asked for. */
  readonly delay: InhibitDelay | undefined;
}
