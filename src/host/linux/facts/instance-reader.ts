import { join } from 'node:path';
import type { InstanceFacts } from '../../facts/process-facts.js';
import { errnoName } from '../../../errors.js';
import { flockHolders, readLockFile, type LockFile } from '../process/lock-holder.js';
import { textOf } from './text-file.js';

/**
 * The evictd that guards a node: the holder of the lock in the runtime directory. Does not try the lock, because an
 * evictd that starts at that moment would be refused.
 *
 * @param instance of instanceName
 */
export function readInstance(runtimeDirectory: string, instance: string): InstanceFacts {
  const path = join(runtimeDirectory, `${instance}.lock`);
  let file: LockFile | undefined;
  try {
    file = readLockFile(path);
  } catch (error) {
    return { kind: 'unseen', unseen: `${path}: ${errnoName(error) ?? String(error)}` };
  }
  if (file === undefined) return { kind: 'none' };
  const locks = textOf('/proc/locks');
  return typeof locks === 'string' ? instanceOf(file, flockHolders(locks, file.inode)) : { kind: 'unseen', unseen: locks.unseen };
}

/** The content counts only while the file is locked: it stays when its evictd ends. */
export function instanceOf({ pid, version }: LockFile, holders: readonly number[]): InstanceFacts {
  if (holders.includes(pid)) return { kind: 'running', pid, version };
  if (holders.includes(0)) return { kind: 'unseen', unseen: 'the lock is held by a process outside this process namespace' };
  return { kind: 'none' };
}
