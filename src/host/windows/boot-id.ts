import { loadAddon } from '../../native/load.js';
import { ofWindows } from '../../native/of-windows.js';
import type { WindowsBinding } from '../../native/windows-binding.js';

/**
 * What tells this boot from every other: when the first process was made that is still there, which on Windows is the system itself. A clock that is set later does not change it. '': nobody tells.
 */
export function readBootId(native: Pick<WindowsBinding, 'processes'> = ofWindows(loadAddon().loaded as object)): string {
  try {
    const made = native.processes().flatMap(({ createdAt }) => (createdAt > 0n ? createdAt : []));
    return made.length === 0 ? '' : String(made.reduce((first, at) => (at < first ? at : first)));
  } catch {
    return '';
  }
}
