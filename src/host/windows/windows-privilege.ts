import { readdirSync } from 'node:fs';
import { win32 } from 'node:path';
import { errnoName } from '../../errors.js';
import type { WindowsBinding } from '../../native/windows-binding.js';

/**
 * Enables SeDebugPrivilege, with which processes of other users can be opened and ended. The system has it enabled, an
 * administrator has it disabled, others do not have it.
 */
export function mayEndOthers(native: Pick<WindowsBinding, 'enableDebugPrivilege'>): boolean {
  try {
    return native.enableDebugPrivilege();
  } catch {
    return false;
  }
}

/** An administrator or the system: no other account may list this directory. */
export function isAdministrator(systemRoot = process.env.SystemRoot ?? 'C:\\Windows'): boolean {
  try {
    readdirSync(win32.join(systemRoot, 'System32', 'config'));
    return true;
  } catch (error) {
    return errnoName(error) !== 'EPERM' && errnoName(error) !== 'EACCES';
  }
}
