import type { WindowsBinding } from './windows-binding.js';

/** The addon by its contract on Windows, for callers that have checked the host (host/select.ts). */
export function asWindows(native: object): WindowsBinding {
  return native as WindowsBinding;
}
