import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { SafeMode } from '../../../src/features/safe-mode/open.js';
import { Turns } from '../../../src/storage/turns.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

let directory = '';
let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
  directory = temporaryDirectory();
});

const MINUTE = 60_000;

function run({ crashes = 3, runtimeDirectory = directory, stateDirectory = directory, bootId = 'boot' } = {}) {
  const logged: string[] = [];
  const write = (message: string): void => void logged.push(message);
  const mode = new SafeMode(
    { runtimeDirectory, stateDirectory, safeMode: { crashes, withinNs: 600_000_000_000n } },
    {
      ...{ instance: 'machine', turns: new Turns(), bootId, bootNs: () => BigInt(nowMs) * 1_000_000n },
      log: { info: write, warn: write, error: write },
    },
  );
  mode.announce();
  return { mode, logged };
}

test('after several crashes in a row evictd evicts nothing until it has run for the time', () => {
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

test('an operator ends safe mode, and the crashes before count no more', () => {
  for (let i = 0; i < 4; i += 1) run();
  const { mode, logged } = run();
  expect([mode.resume(), mode.because, mode.resume(), mode.renew()]).toEqual([true, undefined, false, false]);
  expect(logged.at(-1)).toBe('safe mode is over: an operator has run evictd resume; evictd evicts again');
  expect(run().mode.crashes).toBe(1);
});

test('a stop ends safe mode', () => {
  for (let i = 0; i < 4; i += 1) run();
  const { mode } = run();
  expect(mode.because).toBeDefined();
  mode.close();
  expect(run().mode.because).toBeUndefined();
});

test('a run that lasts forgets the crashes that did not lead to safe mode', () => {
  run();
  const { mode, logged } = run();
  expect(mode.crashes).toBe(1);
  nowMs += 10 * MINUTE;
  expect([mode.renew(), mode.crashes, logged]).toEqual([false, 0, []]);
  expect(run().mode.crashes).toBe(1);
});

test('with a limit of 0 safe mode never starts', () => {
  for (let i = 0; i < 9; i += 1) run({ crashes: 0 });
  expect(run({ crashes: 0 }).mode).toMatchObject({ because: undefined, crashes: 9 });
});

test('without its file evictd runs, and logs that', () => {
  const { mode, logged } = run({ runtimeDirectory: join(directory, 'none') });
  expect(mode.because).toBeUndefined();
  expect(logged).toEqual([expect.stringContaining('a crash of this run is not counted')]);
  expect(existsSync(join(directory, 'none'))).toBe(false);
});

type Boot = 'evicts' | 'does not evict' | 'evicts, and outlasts it' | 'evicts, and evictd stops' | 'evicts, and an operator resumes';

/** A boot of the machine, which begins with an empty runtime directory, until it goes down. Returns how its evictd began. */
async function boot(name: string, what: Boot) {
  nowMs = 1_000;
  const { mode, logged } = run({ runtimeDirectory: temporaryDirectory(), bootId: name });
  const entered = await mode.countResets();
  const began = { because: mode.because, entered, crashes: mode.crashes, logged };
  if (what !== 'does not evict') mode.listener.stepped(evicting);
  if (what === 'evicts, and outlasts it') nowMs += 10 * MINUTE;
  if (what === 'evicts, and an operator resumes') mode.resume();
  mode.renew();
  if (what === 'evicts, and evictd stops') await mode.stopped(60_000);
  await mode.countResets(); // in turn: what was asked of the state directory before is done
  return began;
}

const evicting = { effects: [{ kind: 'evict' }] } as unknown as Parameters<SafeMode['listener']['stepped']>[0];

test.each<[rule: string, boots: readonly Boot[], crashes: number]>([
  ['each reset was soon after an eviction', ['evicts', 'evicts', 'evicts'], 3],
  ['between them boots without an eviction', ['evicts', 'does not evict', 'evicts', 'does not evict', 'evicts'], 3],
  ['there were too few resets', ['evicts', 'evicts'], 2],
  ['resets without an eviction, as at power cuts', ['does not evict', 'does not evict', 'does not evict'], 0],
  ['an eviction that the machine outlasted', ['evicts', 'evicts', 'evicts, and outlasts it', 'evicts'], 1],
  ['a stop of evictd, as by a shutdown', ['evicts', 'evicts', 'evicts, and evictd stops', 'evicts'], 1],
  ['an operator who resumes', ['evicts', 'evicts', 'evicts, and an operator resumes', 'evicts'], 1],
])('resets of the machine: %s', async (_rule, boots, crashes) => {
  for (const [index, what] of boots.entries()) await boot(`boot ${String(index)}`, what);
  const { because, entered, ...began } = await boot('the next', 'does not evict');
  expect(began).toMatchObject({ crashes, logged: [] });
  expect(entered).toBe(crashes >= 3);
  expect(because).toBe(
    entered ? 'the machine went down 3 times in a row within 10m0s after an eviction, and not by a shutdown' : undefined,
  );
});

test('resets count once in a boot, together with its crashes, and safe mode lasts as long as after crashes', async () => {
  for (const name of ['a', 'b']) await boot(name, 'evicts');
  const first = run({ bootId: 'c' }).mode;
  expect([await first.countResets(), first.crashes]).toEqual([false, 2]);
  const second = run({ bootId: 'c' }).mode;
  expect(second.because).toBe('evictd has crashed 3 times within 10m0s');
  expect([await second.countResets(), second.crashes]).toEqual([false, 3]);
  nowMs += 10 * MINUTE;
  expect([second.renew(), second.because]).toEqual([true, undefined]);
});

test('an eviction of an earlier run in the same boot counts as one of this run', async () => {
  for (const name of ['a', 'b', 'c']) await boot(name, 'evicts');
  const next = run({ bootId: 'c' }).mode;
  expect([await next.countResets(), next.crashes]).toEqual([false, 2]); // a and b
  nowMs += 10 * MINUTE;
  next.renew();
  await next.countResets();
  expect((await boot('d', 'does not evict')).crashes).toBe(0);
});

test('a state directory that cannot be used is reported, and evictd still evicts', async () => {
  const { mode, logged } = run({ stateDirectory: join(directory, 'none') });
  mode.listener.stepped(evicting);
  await mode.stopped(60_000);
  expect(mode.because).toBeUndefined();
  expect(logged).toEqual([expect.stringContaining('a reset of the machine after an eviction is not counted')]);
});
