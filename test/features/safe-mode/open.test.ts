import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { SafeMode } from '../../../src/features/safe-mode/open.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

let directory = '';
let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
  directory = temporaryDirectory();
});

const MINUTE = 60_000;

function run({ crashes = 3, runtimeDirectory = directory } = {}) {
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const mode = new SafeMode(
    { runtimeDirectory, safeMode: { crashes, withinNs: 600_000_000_000n } },
    { instance: 'machine', bootId: 'boot', bootNs: () => BigInt(nowMs) * 1_000_000n, log: { info: write, warn: write, error: write } },
  );
  mode.announce();
  return { mode, logged };
}

test('after so many crashes in a row evictd evicts nothing, until it has run for the time', () => {
  expect([run(), run(), run()].map(({ mode }) => mode.because)).toEqual([undefined, undefined, undefined]);
  const { mode, logged } = run();
  expect(mode.because).toBe('evictd has crashed 3 times within 10m0s');
  expect(logged).toEqual([
    'safe mode: evictd has crashed 3 times within 10m0s; it watches, exports and alerts, and evicts nothing for 10m0s',
  ]);
  nowMs += 10 * MINUTE - 1;
  expect([mode.renew(), mode.because]).toEqual([false, 'evictd has crashed 3 times within 10m0s']);
  nowMs += 1;
  expect([mode.renew(), mode.because]).toEqual([true, undefined]);
  expect(mode.renew()).toBe(false);
  expect(logged.slice(1)).toEqual(['safe mode is over: evictd has run for 10m0s without a crash; evictd evicts again']);
  expect(run().mode.crashes).toBe(1);
});

test('an operator ends it, and the crashes before count no more', () => {
  for (let i = 0; i < 4; i += 1) run();
  const { mode, logged } = run();
  expect([mode.resume(), mode.because, mode.resume(), mode.renew()]).toEqual([true, undefined, false, false]);
  expect(logged.at(-1)).toBe('safe mode is over: an operator has run evictd resume; evictd evicts again');
  expect(run().mode.crashes).toBe(1);
});

test('a stop ends the safe mode', () => {
  for (let i = 0; i < 4; i += 1) run();
  const { mode } = run();
  expect(mode.because).toBeDefined();
  mode.close();
  expect(run().mode.because).toBeUndefined();
});

test('a run that lasts forgets the crashes that led to no safe mode', () => {
  run();
  const { mode, logged } = run();
  expect(mode.crashes).toBe(1);
  nowMs += 10 * MINUTE;
  expect([mode.renew(), mode.crashes, logged]).toEqual([false, 0, []]);
  expect(run().mode.crashes).toBe(1);
});

test('0: never', () => {
  for (let i = 0; i < 9; i += 1) run({ crashes: 0 });
  expect(run({ crashes: 0 }).mode).toMatchObject({ because: undefined, crashes: 9 });
});

test('without its file evictd runs, and says so', () => {
  const { mode, logged } = run({ runtimeDirectory: join(directory, 'none') });
  expect(mode.because).toBeUndefined();
  expect(logged).toEqual([expect.stringContaining('a crash of this run is not counted')]);
  expect(existsSync(join(directory, 'none'))).toBe(false);
});
