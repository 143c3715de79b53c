import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoName } from '../../errors.js';

/**
 * The process that holds a lock file of evictd's; undefined: nobody does, or the file is not there. By the kernel's word (/proc/locks), not by the number in the
 * file alone: that of an evictd that was killed may be another process's by now.
 */
export function lockHolder(path: string): number | undefined {
  const file = readLockFile(path);
  if (file === undefined) return undefined;
  return flockHolders(readFileSync('/proc/locks', 'latin1'), file.inode).find((pid) => pid === file.pid);
}

/** What stands in a lock file: who wrote it last, whether or not he holds it still. */
export interface LockFile {
  readonly inode: number;
  readonly pid: number;
  /** undefined: of an evictd that did not write it. */
  readonly version: string | undefined;
}

/** undefined: it is not there. */
export function readLockFile(path: string): LockFile | undefined {
  return whereThere(() => {
    const [pid, version] = readFileSync(path, 'latin1').split('\n');
    return { inode: statSync(path).ino, pid: Number(pid), version: version === '' ? undefined : version };
  });
}

/** What `readLockFile` reads. */
export function lockFileText(pid: number, version: string): string {
  return `${String(pid)}\n${version}\n`;
}

/** The processes that hold lock files in a directory. */
export function lockHoldersIn(directory: string): readonly number[] {
  const names = whereThere(() => readdirSync(directory)) ?? [];
  return names.filter((name) => name.endsWith('.lock')).flatMap((name) => lockHolder(join(directory, name)) ?? []);
}

/** The lock files of evictd's that a process holds, wherever they are; none where its /proc/PID/fd may not be read. */
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
 * Of /proc/locks: '1: FLOCK  ADVISORY  WRITE 1234 00:2d:5678 0 EOF'; with '->' behind the number who waits for one. The device is that of the
 * superblock, which stat(2) does not tell on every filesystem (overlay, btrfs), so the inode alone is compared.
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
