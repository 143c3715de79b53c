import type { InhibitDelay } from '../core/inhibit-delay.js';
import { selectHost } from '../host/select.js';

/** How long a shutdown of this machine waits for who asks it to. */
export function readInhibitDelay(): Promise<InhibitDelay> {
  return selectHost().readInhibitDelay();
}
