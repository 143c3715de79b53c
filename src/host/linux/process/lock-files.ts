import { readdirSync, readFileSync, readlinkSync, statSync, closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errnoName } from '../../../errors.js';
import manifest from '../../../../package.json' with { type: 'json' };
import type { NodeIdentity } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { takeInstanceLock, type InstanceLock } from '../../instance-lock.js';

/**
 * The process that holds a lock file of evictd; undefined: none, or no such file. Decided by /proc/locks: the pid in
 * the file of a killed evictd may be another process's by now.
 */
export function lockHolder(path: string): number | undefined {
  const file = readLockFile(path);
  if (file === undefined) return undefined;
  return flockHolders(readFileSync('/proc/locks', 'latin1'), file.inode).find((pid) => pid === file.pid);
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

/** evictd's lock files that a process holds; none where /proc/PID/fd may not be read. */
export function locksHeldBy(pid: number): readonly string[] {
  const directory = `/proc/${String(pid)}/fd`;
  try {
    const paths = readdirSync(directory).flatMap((name) => whereThere(() => readlinkSync(join(directory, name))) ?? []);
    return paths.filter((path) => path.endsWith('.lock') && lockHolder(path) === pid);
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
    if (errnoName(error) === 'ENOENT' || errnoName(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export { instanceName, type InstanceLock } from '../../instance-lock.js';

/** With flock(2); the file contains the holder. */
export function lockInstance(runtimeDirectory: string, node: NodeIdentity, native: Binding, dryRun = false): InstanceLock {
  const files = {
    take: (path: string) => new native.FileLock(path),
    record: recordHolder,
    recordedPid: (path: string) => readLockFile(path)?.pid,
    hint: 'run evictd as root, or set runtimeDirectory to a directory on tmpfs that it may write to',
  };
  return takeInstanceLock(runtimeDirectory, node, files, dryRun);
}

/** For `reload`, `doctor` and the next evictd. Overwrites in place: a full disk may have no other page. */
function recordHolder(path: string): Error | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r+');
    ftruncateSync(fd, writeSync(fd, lockFileText(process.pid, manifest.version), 0));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
