import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errnoName, asError } from '../../../errors.js';
import manifest from '../../../../package.json' with { type: 'json' };
import type { Binding } from '../../../native/binding.js';
import { isLockHeld } from '../../../native/lock-held.js';
import { takeInstanceLock, type InstanceLock, type LockedNode } from '../../instance-lock.js';

/** The process that holds a lock file of evictd; undefined: none, no such file, or a zombie. */
export function lockHolder(path: string): number | undefined {
  const holder = recordedHolder(path);
  return holder === undefined || isZombie(holder) ? undefined : holder;
}

/** The pid in /proc/locks: the pid in the file of a killed evictd may belong to another process by now. May be a zombie. */
function recordedHolder(path: string): number | undefined {
  const file = readLockFile(path);
  if (file === undefined) return undefined;
  return flockHolders(readFileSync('/proc/locks', 'latin1'), file.inode).find((pid) => pid === file.pid);
}

/**
 * Whether a process runs no more code of its own: its first thread is a zombie, which for Node means that all are
 * killed. The process stays, with its descriptors and locks, while a thread waits in the kernel for a filesystem.
 */
export function isZombie(pid: number): boolean {
  const stat = whereThere(() => readFileSync(`/proc/${String(pid)}/stat`, 'latin1'));
  return stat !== undefined && /^\d+ \(.*\) Z /s.test(stat);
}

/** The content of a lock file: its last holder. */
export interface LockFile {
  readonly inode: number;
  readonly pid: number;
  /** undefined: evictd did not write it. */
  readonly version: string | undefined;
}

/** undefined: no such file. */
export function readLockFile(path: string): LockFile | undefined {
  return whereThere(() => {
    const [pid, version] = readFileSync(path, 'latin1').split('\n');
    return { inode: statSync(path).ino, pid: Number(pid), version: version === '' ? undefined : version };
  });
}

/** The counterpart of `readLockFile`. */
export function lockFileText(pid: number, version: string): string {
  return `${String(pid)}\n${version}\n`;
}

/** The processes that hold lock files in a directory. */
export function lockHoldersIn(directory: string): readonly number[] {
  const names = whereThere(() => readdirSync(directory)) ?? [];
  return names.filter((name) => name.endsWith('.lock')).flatMap((name) => lockHolder(join(directory, name)) ?? []);
}

/**
 * evictd's lock files that a process holds; none where its descriptors may not be read. Each lock is held by a thread
 * with descriptors of its own (native/system/linux/file_lock.cc).
 */
export function locksHeldBy(pid: number): readonly string[] {
  const threads = `/proc/${String(pid)}/task`;
  const entriesOf = (directory: string): string[] => (whereThere(() => readdirSync(directory)) ?? []).map((name) => join(directory, name));
  try {
    const descriptors = entriesOf(threads).flatMap((thread) => entriesOf(join(thread, 'fd')));
    const paths = new Set(descriptors.flatMap((descriptor) => whereThere(() => readlinkSync(descriptor)) ?? []));
    return [...paths].filter((path) => path.endsWith('.lock') && lockHolder(path) === pid);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return [];
  }
}

/**
 * Parses /proc/locks: '1: FLOCK ADVISORY WRITE 1234 00:2d:5678 0 EOF'; '->' behind the number marks a waiter. Compares
 * the inode alone: the device is the superblock's, which stat(2) does not report on overlay and btrfs.
 */
export function flockHolders(locks: string, inode: number): readonly number[] {
  return locks.split('\n').flatMap((line) => {
    const [, pid, of] = /^\d+: FLOCK +ADVISORY +WRITE (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line) ?? [];
    return Number(of) === inode ? [Number(pid)] : [];
  });
}

function whereThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ESRCH'].includes(errnoName(error) ?? '')) return undefined;
    throw error;
  }
}

export { instanceName, type InstanceLock } from '../../instance-lock.js';

/** Locks the instance with flock(2); the file contains the holder. */
export function lockInstance(runtimeDirectory: string, node: LockedNode, native: Binding, dryRun = false): InstanceLock {
  const files = {
    take: (path: string) => takeLock(path, native),
    record: recordHolder,
    recordedPid: (path: string) => readLockFile(path)?.pid,
    hint: 'run evictd as root, or set runtimeDirectory to a directory on tmpfs that it may write to',
  };
  return takeInstanceLock(runtimeDirectory, node, files, dryRun);
}

/**
 * Locks a file. If a zombie holds the lock, a new file replaces the old one. An evictd without a thread for its lock
 * leaves such a zombie if it is killed while a filesystem hangs.
 */
function takeLock(path: string, native: Pick<Binding, 'FileLock'>): { close(): void } {
  const isAbandoned = (): boolean => {
    const holder = recordedHolder(path);
    return holder !== undefined && isZombie(holder);
  };
  try {
    return new native.FileLock(path);
  } catch (error) {
    if (!isLockHeld(error) || !isAbandoned()) throw error;
  }
  // One at a time: a second one would remove the file that the first one has locked.
  const turnPath = `${path}.takeover`;
  const turn = new native.FileLock(turnPath);
  try {
    if (isAbandoned()) rmSync(path);
    return new native.FileLock(path);
  } finally {
    rmSync(turnPath, { force: true });
    turn.close();
  }
}

/** Records the holder for `reload`, `doctor` and the next evictd. Overwrites in place: a full disk may have no other page. */
function recordHolder(path: string): Error | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r+');
    ftruncateSync(fd, writeSync(fd, lockFileText(process.pid, manifest.version), 0));
    return undefined;
  } catch (error) {
    return asError(error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
