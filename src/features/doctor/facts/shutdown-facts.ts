import type { InhibitDelay } from '../../../core/systemd/inhibit-delay.js';

export interface ShutdownFacts {
  /** The delay that the configuration requires. */
  readonly requestedNs: bigint;
  /** undefined: not read, because none is required. */
  readonly delay: InhibitDelay | undefined;
}
