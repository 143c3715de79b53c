import type { Platform } from '../core/operating-system.js';
import { selectPlatform } from '../host/select.js';

/** What the configurations of this machine are for. */
export function configuredPlatform(): Platform {
  return selectPlatform();
}
