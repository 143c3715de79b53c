import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { addonFile, after, closing, makeDirectory, openDescriptors, runNode, thrownBy } from './kernel.js';

const { SIGTERM, SIGKILL } = constants.signals;

const sleeper = () => {
  const child = spawn('sleep', ['60']);
  after(() => void child.kill('SIGKILL'));
  return child;
};

describe('a pidfd', () => {
  test('signals its process', async () => {
    const child = sleeper();
    closing(new native.Pidfd(child.pid ?? 0)).signal(SIGTERM);
    const [, signal] = (await once(child, 'exit')) as [unknown, string];
    expect(signal).toBe('SIGTERM');
  });

  test('of a process that has ended is ESRCH, even if its pid was reused', async () => {
    const child = sleeper();
    const pidfd = closing(new native.Pidfd(child.pid ?? 0));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(thrownBy(() => pidfd.signal(SIGKILL))).toMatchObject({ code: 'ESRCH', errno: -3, syscall: 'pidfd_send_signal' });
    expect(thrownBy(() => new native.Pidfd(child.pid ?? 0))).toMatchObject({ code: 'ESRCH', errno: -3, syscall: 'pidfd_open' });
  });

  test('is closed once, however often close() is called', () => {
    const child = sleeper();
    const before = openDescriptors();
    const pidfd = new native.Pidfd(child.pid ?? 0);
    expect(openDescriptors()).toBe(before + 1);
    pidfd.close();
    pidfd.close();
    expect(openDescriptors()).toBeLessThanOrEqual(before);
    expect(thrownBy(() => pidfd.signal(SIGKILL))).toMatchObject({ code: 'EBADF' });
  });

  test.each([0, -1, 1.5, 2 ** 31, NaN])('refuses pid %s with a RangeError', (pid) => {
    expect(thrownBy(() => new native.Pidfd(pid))).toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
  });
});

describe('a file lock', () => {
  test('is held once, and gives EAGAIN to all others, in this process and elsewhere', async () => {
    const path = join(makeDirectory(), 'lock');
    const lock = closing(new native.FileLock(path));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(thrownBy(() => new native.FileLock(path))).toMatchObject({ code: 'EAGAIN', errno: -11, syscall: 'flock', path });
    const attempt = `try { new native.FileLock(${JSON.stringify(path)}); console.log('locked'); } catch (error) { console.log(error.code); }`;
    expect((await runNode(attempt)).output).toBe('EAGAIN');
    lock.close();
    lock.close();
    expect((await runNode(attempt)).output).toBe('locked');
    closing(new native.FileLock(path));
  });

  test('ends with its process, however that ends, though its child still runs', async () => {
    const path = join(makeDirectory(), 'lock');
    const script = `
      new (require(${JSON.stringify(addonFile)}).FileLock)(${JSON.stringify(path)});
      console.log(require('node:child_process').spawn('sleep', ['60'], { stdio: 'ignore' }).pid);
      setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    after(() => void holder.kill('SIGKILL'));
    const [pid] = (await once(holder.stdout, 'data')) as [Buffer];
    after(() => void process.kill(Number(pid), 'SIGKILL'));
    expect(thrownBy(() => new native.FileLock(path))).toMatchObject({ code: 'EAGAIN' });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(existsSync(`/proc/${String(Number(pid))}`)).toBe(true);
    closing(new native.FileLock(path));
  });

  test('is not acquired through a symbolic link', () => {
    const directory = makeDirectory();
    symlinkSync(join(directory, 'elsewhere'), join(directory, 'lock'));
    const path = join(directory, 'lock');
    expect(thrownBy(() => new native.FileLock(path))).toMatchObject({ code: 'ELOOP', syscall: 'open', path });
    expect(existsSync(join(directory, 'elsewhere'))).toBe(false);
  });

  test('in a missing directory is ENOENT', () => {
    expect(thrownBy(() => new native.FileLock('/proc/none/lock'))).toMatchObject({ code: 'ENOENT', path: '/proc/none/lock' });
  });
});

test('exitNow ends the process at once, without its exit handlers', async () => {
  const { status, output } = await runNode(
    "process.on('exit', () => console.log('handler')); fs.writeSync(1, 'here'); native.exitNow(42);",
  );
  expect({ status, output }).toEqual({ status: 42, output: 'here' });
});

test('a process of another user may be opened: pid 1 is, and gets signal 0', () => {
  closing(new native.Pidfd(1)).signal(0);
  expect(readFileSync('/proc/1/comm', 'utf8')).not.toBe('');
});
