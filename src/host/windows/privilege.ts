import { readdirSync } from 'node:fs';
import { win32 } from 'node:path';
import { errnoName } from '../../errors.js';

/** Whether processes of other users may be ended: an administrator, or the system, may; and nobody else may list this directory. */
export function mayEndOthers(systemRoot = process.env.SystemRoot ?? 'C:\\Windows'): boolean {
  try {
    readdirSync(win32.join(systemRoot, 'System32', 'config'));
    return true;
  } catch (error) {
    return errnoName(error) !== 'EPERM' && errnoName(error) !== 'EACCES';
  }
}
