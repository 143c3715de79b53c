import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import { native, thrownBy } from './native.js';
import { spawnSync } from './spawn.js';

const LOAD = `const native = require(${JSON.stringify(addonPath)});`;

/** Exit code of a script run by `program`; null: it was terminated. */
const statusOf = (program: string, script: string): number | null => spawnSync(program, ['-e', LOAD + script], { stdio: 'ignore' }).status;

test('loads into a program of any name', () => {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const renamed = join(directory, 'renamed.exe');
  copyFileSync(process.execPath, renamed);
  expect(statusOf(renamed, 'process.exitCode = native.watchCount() + 5')).toBe(5);
});

test('loads in workers, one after the other', async () => {
  for (let round = 0; round < 3; round++) {
    const worker = new Worker(
      `${LOAD} require('node:worker_threads').parentPort.postMessage(typeof native.performanceInfo().commitLimit);`,
      {
        eval: true,
      },
    );
    const ended = once(worker, 'exit');
    expect(await once(worker, 'message')).toEqual(['bigint']);
    await ended;
  }
});

test.each([0, 7, 255, 4294967295])('exitNow(%i) ends the process with that exit code, and runs nothing more', (code) => {
  expect(
    statusOf(process.execPath, `process.on('exit', () => { process.exitCode = 99; }); native.exitNow(${String(code)}); process.exit(98);`),
  ).toBe(code);
});

test.each([-1, 4294967296, 0.5, NaN])('exitNow(%d) is refused', (code) => {
  expect(thrownBy(() => native.exitNow(code))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
});

test('no watch is open at the start', () => {
  expect(native.watchCount()).toBe(0);
  expect(native.WAKE).toEqual({ FIRED: 1, GONE: 2 });
});
