import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import { isLockHeld } from '../../src/native/lock-held.js';
import { native, thrownBy } from './native.js';
import { spawnSync } from './spawn.js';

let path: string;

beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  path = join(directory, 'machine.lock');
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
});

/** Exit code of a process that tries to take the lock: 0 taken, 3 held. */
const tried = (then = ''): number | null =>
  spawnSync(
    process.execPath,
    [
      '-e',
      `const native = require(${JSON.stringify(addonPath)});
       try { globalThis.lock = new native.FileLock(${JSON.stringify(path)}); ${then} }
       catch (error) { process.exit(error.code === 'ERROR_LOCK_VIOLATION' ? 3 : 4); }`,
    ],
    { stdio: 'ignore' },
  ).status;

test('a lock excludes others in this process and in other processes until it is closed', () => {
  const lock = new native.FileLock(path);
  const refusal = thrownBy(() => new native.FileLock(path));
  expect(refusal).toMatchObject({ code: 'ERROR_LOCK_VIOLATION', errno: -33, syscall: 'LockFileEx', path });
  expect(isLockHeld(refusal)).toBe(true);
  expect(tried()).toBe(3);
  lock.close();
  lock.close();
  expect(tried()).toBe(0);
});

test('the end of a process releases the lock, however it ends', () => {
  expect(tried('native.exitNow(5);')).toBe(5);
  new native.FileLock(path).close();
});

test('a missing directory is an error', () => {
  const missing = join(path, 'a', 'lock');
  expect(thrownBy(() => new native.FileLock(missing))).toMatchObject({
    code: 'ERROR_PATH_NOT_FOUND',
    syscall: 'CreateFile',
    path: missing,
  });
  expect(existsSync(missing)).toBe(false);
});

test('the time since the start of the machine advances like hrtime', async () => {
  const [boot, monotonic] = [native.bootTimeNs(), process.hrtime.bigint()];
  await new Promise((resolve) => setTimeout(resolve, 200));
  const passed = process.hrtime.bigint() - monotonic;
  expect(native.bootTimeNs() - boot).toBeGreaterThan(100_000_000n);
  expect(native.bootTimeNs() - boot).toBeLessThan(passed + 1_000_000_000n);
});
