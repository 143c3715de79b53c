import { readdirSync } from 'node:fs';
import { win32 } from 'node:path';
import { errnoName } from '../../errors.js';
import type { WindowsBinding } from '../../native/windows-binding.js';

/**
 * Whether processes of other users may be looked at and ended, from now on: it is SeDebugPrivilege that opens them. The system has it enabled, an administrator has it disabled, and nobody else has it.
 */
export function mayEndOthers(native: Pick<WindowsBinding, 'enableDebugPrivilege'>): boolean {
  try {
    return native.enableDebugPrivilege();
  } catch {
    return false;
  }
}

/** An administrator, or the system: nobody else may list this directory. */
export function isAdministrator(systemRoot = process.env.SystemRoot ?? 'C:\\Windows'): boolean {
  try {
    readdirSync(win32.join(systemRoot, 'System32', 'config'));
    return true;
  } catch (error) {
    return errnoName(error) !== 'EPERM' && errnoName(error) !== 'EACCES';
  }
}
