import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import { eventually } from '../support/eventually.js';
import { child, lives } from './children.js';
import { native, thrownBy } from './native.js';

const { FIRED, GONE } = native.WAKE;

// onTestFinished: afterEach would be for all files here (test/support/bundled-vitest.ts).
beforeEach(() => {
  onTestFinished(() => {
    expect(native.watchCount()).toBe(0);
  });
});

describe('ProcessHandle', () => {
  test('calls once when its process has ended, is dead then, and keeps the exit code', async () => {
    const [one, other] = [await child(), await child()];
    const wakes: number[] = [];
    const handle = new native.ProcessHandle(one.pid, one.createdAt, (wake) => wakes.push(wake));
    expect([handle.live, handle.exitCode()]).toEqual([true, undefined]);
    handle.terminate(7);
    await eventually('the end is reported', () => wakes.length > 0);
    expect([wakes, handle.live, handle.exitCode(), lives(one), lives(other)]).toEqual([[FIRED | GONE], false, 7, false, true]);
    expect(handle.status()).toEqual({ mechanism: 'process_exit', target: `process ${String(one.pid)}`, live: false, errno: 0 });
    handle.close();
  });

  test('terminate() may be called for an ending or ended process', async () => {
    const one = await child();
    const handle = new native.ProcessHandle(one.pid, one.createdAt, () => undefined);
    handle.terminate(7);
    handle.terminate(8);
    await eventually('the process has ended', () => handle.exitCode() !== undefined);
    handle.terminate(9);
    expect(handle.exitCode()).toBe(7);
    handle.close();
  });

  test('exit code 259 (STILL_ACTIVE) is an exit code', async () => {
    const one = await child();
    const handle = new native.ProcessHandle(one.pid, one.createdAt, () => undefined);
    handle.terminate(259);
    await eventually('the process has ended', () => handle.exitCode() === 259);
    handle.close();
  });

  test('opening a missing process id, or one that was given to another process, is an error', async () => {
    const one = await child();
    const missing = { code: 'ERROR_INVALID_PARAMETER', errno: -87, syscall: 'OpenProcess' };
    expect(thrownBy(() => new native.ProcessHandle(0x7ffffff0, 1n, () => undefined))).toMatchObject(missing);
    expect(thrownBy(() => new native.ProcessHandle(one.pid, one.createdAt - 1n, () => undefined))).toMatchObject(missing);
  });

  test('close() may be called twice, and terminate() after it ends no process', async () => {
    const one = await child();
    const handle = new native.ProcessHandle(one.pid, one.createdAt, () => undefined);
    handle.close();
    handle.close();
    const closed = { code: 'ERROR_INVALID_HANDLE' };
    expect([thrownBy(() => handle.terminate(1)), thrownBy(() => handle.exitCode())]).toMatchObject([closed, closed]);
    expect([handle.live, lives(one)]).toEqual([false, true]);
  });

  test('closed before the callback does not call', async () => {
    const one = await child();
    const handle = new native.ProcessHandle(one.pid, one.createdAt, () => {
      throw new Error('called');
    });
    handle.terminate(1);
    handle.close();
    await eventually('the process has ended', () => !lives(one));
  });

  test('a worker may end with a live one, and the process continues', async () => {
    const one = await child();
    const worker = new Worker(
      `const native = require(${JSON.stringify(addonPath)});
       new native.ProcessHandle(${String(one.pid)}, ${String(one.createdAt)}n, () => undefined);
       require('node:worker_threads').parentPort.postMessage(native.watchCount());`,
      { eval: true },
    );
    const ended = once(worker, 'exit');
    expect(await once(worker, 'message')).toEqual([1]);
    await worker.terminate();
    await ended;
    expect(lives(one)).toBe(true);
  });

  test.each<[fault: string, pid: unknown, createdAt: unknown, onWake: unknown]>([
    ['a value that is not a number', undefined, 1n, () => undefined],
    ['a missing time', 1, 1, () => undefined],
    ['a missing function', 1, 1n, undefined],
  ])('%s is refused', (_fault, pid, createdAt, onWake) => {
    const make = () => new native.ProcessHandle(pid as number, createdAt as bigint, onWake as () => void);
    expect(thrownBy(make)).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });
});
