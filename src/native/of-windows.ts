import type { Binding } from './binding.js';
import type { WindowsBinding } from './windows-binding.js';

/** The addon, by the contract that it has on Windows: for whoever knows by the host (host/select.ts) that this is Windows. */
export function ofWindows(native: object): WindowsBinding {
  return native as WindowsBinding;
}

/** What both contracts have, alike. */
export type SharedBinding = Pick<Binding & WindowsBinding, 'WAKE' | 'exitNow' | 'bootTimeNs' | 'FileLock' | 'watchCount'>;
