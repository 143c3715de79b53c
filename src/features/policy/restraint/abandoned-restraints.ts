import { existsSync, statSync } from 'node:fs';
import { selectHost } from '../../../host/select.js';
import type { Log } from '../../../log/log.js';
import { native } from '../../../native/index.js';
import { isLockHeld } from '../../../native/lock-held.js';
import { HELD_DIRECTORY, RestraintFile, restraintFilesIn } from './restraint-file.js';
import type { Restraint } from './restraint.js';
import { Restraints } from './restraints.js';

const SILENT: Pick<Log, 'info' | 'warn'> = { info: () => undefined, warn: () => undefined };

/**
 * Gives back what evictds that have ended have throttled or frozen, whatever their configuration was. Never throws.
 *
 * @param own  the lock file of this evictd, whose file is not touched. Left out: it has none
 * @returns the lifted restraints, and the files that are left
 */
export function liftAbandoned(
  log: Pick<Log, 'info' | 'warn'> = SILENT,
  { own, directory = HELD_DIRECTORY }: { readonly own?: string; readonly directory?: string } = {},
): { readonly lifted: readonly Restraint[]; readonly left: readonly string[] } {
  const bootId = selectHost().readBootId();
  const lifted: Restraint[] = [];
  const files = restraintFilesIn(directory).flatMap((path) => {
    const lock = new RestraintFile(path, bootId, '').savedLock();
    const held = lock === own && lock !== undefined ? 'lives' : lockOf(lock, own);
    if (held === 'lives') return [];
    try {
      lifted.push(...new Restraints(new RestraintFile(path, bootId, lock ?? ''), log).takeOver());
    } finally {
      held?.close();
    }
    return [path];
  });
  return { lifted, left: files.filter((path) => existsSync(path)) };
}

/** undefined: no other evictd holds it, and none can: its directory is gone, or it is that of this evictd by another path. */
function lockOf(path: string | undefined, own: string | undefined): { close(): void } | 'lives' | undefined {
  if (path === undefined) return undefined;
  try {
    return new native.FileLock(path);
  } catch (error) {
    return isLockHeld(error) && !isSameFile(path, own) ? 'lives' : undefined;
  }
}

function isSameFile(path: string, own: string | undefined): boolean {
  if (own === undefined) return false;
  try {
    const [one, other] = [statSync(path), statSync(own)];
    return one.ino === other.ino && one.dev === other.dev;
  } catch {
    return false;
  }
}
