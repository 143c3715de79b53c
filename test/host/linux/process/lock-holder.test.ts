import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  lockInstance,
  flockHolders,
  lockFileText,
  lockHolder,
  lockHoldersIn,
  locksHeldBy,
  readLockFile,
} from '../../../../src/host/linux/process/lock-files.js';
import { native } from '../../../../src/native/index.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

// Linux 6.18, `flock FILE sleep 60 & flock FILE true & cat /proc/locks`
const LOCKS = `1: POSIX  ADVISORY  WRITE 700 00:1a:77 0 EOF
2: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF
2: -> FLOCK  ADVISORY  WRITE 4712 fe:00:131074 0 EOF
3: FLOCK  ADVISORY  READ 800 fe:00:131075 0 EOF
4: FLOCK  ADVISORY  WRITE 0 fe:00:131076 0 EOF
`;

test.each<[rule: string, inode: number, pids: number[]]>([
  ['the holder, without waiters', 131074, [4711]],
  ['a lock of another kind', 77, []],
  ['a shared lock', 131075, []],
  ['a lock in another pid namespace', 131076, [0]],
  ['none', 5, []],
])('%s', (_rule, inode, pids) => {
  expect(flockHolders(LOCKS, inode)).toEqual(pids);
});

function runtimeDirectory(): string {
  const directory = temporaryDirectory();
  return directory;
}

test('the holder of a lock is found while it holds it', () => {
  const directory = runtimeDirectory();
  const path = join(directory, 'machine.lock');
  expect(lockHolder(path)).toBeUndefined();
  const lock = lockInstance(directory, { name: 'machine', cgroup: undefined }, native);
  writeFileSync(join(directory, 'other.lock'), `${String(process.pid)}\n`); // exists, and no process holds it
  expect([lockHolder(path), lockHoldersIn(directory)]).toEqual([process.pid, [process.pid]]);
  expect([locksHeldBy(process.pid), locksHeldBy(process.ppid)]).toEqual([[path], []]);
  lock.close();
  expect(statSync(path).isFile()).toBe(true);
  expect([lockHolder(path), lockHoldersIn(directory)]).toEqual([undefined, []]);
});

test('a holder with another pid than the recorded one is not evictd', () => {
  const directory = runtimeDirectory();
  const lock = lockInstance(directory, { name: 'machine', cgroup: undefined }, native);
  writeFileSync(join(directory, 'machine.lock'), '1\n');
  expect(lockHolder(join(directory, 'machine.lock'))).toBeUndefined();
  lock.close();
});

test('a directory that does not exist has no holders', () => {
  expect(lockHoldersIn('/run/evictd-test-nowhere')).toEqual([]);
});

test('the content of a lock file is parsed, also with only a pid', () => {
  const path = join(runtimeDirectory(), 'machine.lock');
  const inode = (): number => statSync(path).ino;
  writeFileSync(path, lockFileText(4711, '1.2.3'));
  expect(readLockFile(path)).toEqual({ inode: inode(), pid: 4711, version: '1.2.3' });
  writeFileSync(path, '4711\n');
  expect(readLockFile(path)).toEqual({ inode: inode(), pid: 4711, version: undefined });
});
