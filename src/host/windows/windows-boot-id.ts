import { loadAddon } from '../../native/load.js';
import { asWindows } from '../../native/windows-addon.js';
import type { WindowsBinding } from '../../native/windows-binding.js';

/**
 * Identifies this boot: the start of the oldest process, which is the system itself. Setting the clock does not change
 * it. '': unknown.
 */
export function readBootId(native: Pick<WindowsBinding, 'processes'> = asWindows(loadAddon().loaded as object)): string {
  try {
    const made = native.processes().flatMap(({ createdAt }) => (createdAt > 0n ? createdAt : []));
    return made.length === 0 ? '' : String(made.reduce((first, at) => (at < first ? at : first)));
  } catch {
    return '';
  }
}
