import { native as loaded } from '../../src/native/index.js';
import type { WindowsBinding } from '../../src/native/windows-binding.js';

/** The addon, on Windows. */
export const native = loaded as unknown as WindowsBinding;

/** What an action throws; undefined: nothing. */
export function thrownBy(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}
