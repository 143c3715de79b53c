import { loadAddon } from '../../native/load.js';
import { asWindows } from '../../native/windows-addon.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import { readdirSync } from 'node:fs';
import { win32 } from 'node:path';
import { attempt, errnoName } from '../../errors.js';
import { constants, setPriority } from 'node:os';

/**
 * Identifies this boot: the start of the oldest process, which is the system itself. Setting the clock does not change
 * it. '': unknown.
 */
export function readBootId(native: Pick<WindowsBinding, 'processes'> = asWindows(loadAddon().loaded as object)): string {
  const made = (attempt(() => native.processes()) ?? []).flatMap(({ createdAt }) => (createdAt > 0n ? createdAt : []));
  return made.length === 0 ? '' : String(made.reduce((first, at) => (at < first ? at : first)));
}

/**
 * Enables SeDebugPrivilege, with which processes of other users can be opened and ended. The system has it enabled, an
 * administrator has it disabled, others do not have it.
 */
export function canSignalOthers(native: Pick<WindowsBinding, 'enableDebugPrivilege'>): boolean {
  return attempt(() => native.enableDebugPrivilege()) ?? false;
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

/**
 * Raises the priority class to `high`, because what fills the memory mostly keeps every core busy, too. `realtime`
 * would delay Windows itself. Without the right it has no effect.
 */
export function raisePriority(): void {
  attempt(() => {
    setPriority(constants.priority.PRIORITY_HIGH); // may not be permitted
  });
}
