import type { Platform } from '../core/operating-system.js';
import { selectPlatform, selectSignals, type ProcessSignals } from '../host/select.js';

/** What the configurations of this machine are for. */
export function configuredPlatform(): Platform {
  return selectPlatform();
}

/** What this process is asked by from outside. */
export function processSignals(): ProcessSignals {
  return selectSignals();
}
