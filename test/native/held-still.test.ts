import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { withoutDescriptors } from '../support/descriptors.js';
import { stateOf } from '../support/process-state.js';
import {
  cgroup2,
  closing,
  hasCgroup2,
  hasMemoryV1,
  makeCgroup,
  makeDirectory,
  memoryV1,
  pause,
  startIn,
  thrownBy,
  until,
} from './kernel.js';

const { SIGKILL } = constants.signals;
const { EPERM } = constants.errno as Record<string, number>;
const freezerV1 = '/sys/fs/cgroup/freezer';
const hasFreezerV1 = existsSync(`${freezerV1}/cgroup.procs`);

const handle = (cgroup: string) => closing(new native.CgroupHandle(cgroup));
const anywhere = hasMemoryV1 ? memoryV1 : cgroup2;

describe('SIGSTOP to all processes', () => {
  test('stops all processes, also in the cgroups below, and reports that no new one was found', async () => {
    const cgroup = makeCgroup(anywhere);
    mkdirSync(join(cgroup, 'child'));
    const inside = await Promise.all([cgroup, join(cgroup, 'child')].map((directory) => startIn(directory, 'exec sleep 60')));
    const outside = await startIn(makeCgroup(anywhere), 'exec sleep 60');
    expect(handle(cgroup).stop(8)).toEqual({ rounds: 2, settled: true, errno: 0 });
    for (const { pid = 0 } of inside) await until('it to be stopped', () => stateOf(pid) === 'T');
    expect(stateOf(outside.pid ?? 0)).not.toBe('T');
    handle(cgroup).signal(SIGKILL);
    await until('the stopped to end', () => inside.every(({ signalCode }) => signalCode === 'SIGKILL'));
  });

  test('stops processes that fork all the time', async () => {
    const cgroup = makeCgroup(anywhere);
    await startIn(cgroup, 'for i in 1 2 3 4; do (while :; do sleep 0.01 & wait; done) & done; wait');
    const held = handle(cgroup);
    await until('them to fork', () => held.processes().length > 4);
    let stopped: number[] = [];
    // Again and again: a fork that had begun goes through, and its child appears after the last round. A stopped
    // process forks no more, so a reading after that is complete.
    await until('all stopped', () => {
      expect(held.stop(50).errno).toBe(0);
      stopped = held.processes();
      return stopped.every((pid) => ['T', 'Z'].includes(stateOf(pid) ?? '')) && isDeepStrictEqual(held.processes(), stopped);
    });
    expect(stopped.some((pid) => stateOf(pid) === 'T')).toBe(true);
    await pause(100); // ten times as long as between two forks
    expect(held.processes()).toEqual(stopped);
  });

  test('cannot show in one round that no process is left', async () => {
    const cgroup = makeCgroup(anywhere);
    await startIn(cgroup, 'exec sleep 60');
    expect(handle(cgroup).stop(1)).toEqual({ rounds: 1, settled: false, errno: 0 });
  });

  test('is complete at once for an empty or removed cgroup, and never stops pid 1 or processes without a number', () => {
    const cgroup = makeCgroup(anywhere);
    const held = handle(cgroup);
    expect(held.stop(8)).toEqual({ rounds: 1, settled: true, errno: 0 });
    rmdirSync(cgroup);
    expect(held.stop(8)).toEqual({ rounds: 1, settled: true, errno: 0 });
    const directory = makeDirectory();
    writeFileSync(join(directory, 'cgroup.procs'), '0\n1\n');
    expect(handle(directory).stop(8)).toEqual({ rounds: 2, settled: true, errno: EPERM });
  });

  test.each([0, 1001, 1.5, NaN])('refuses %s rounds with a RangeError', (rounds) => {
    expect(thrownBy(() => handle(makeDirectory()).stop(rounds))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  });
});

const freezers: [name: string, mount: string][] = [
  ...(hasFreezerV1 ? [['v1', freezerV1] as [string, string]] : []),
  ...(hasCgroup2 ? [['v2', cgroup2] as [string, string]] : []),
];

describe.each(freezers)('the freezer of %s', (name, mount) => {
  const says = (cgroup: string) =>
    name === 'v1'
      ? readFileSync(`${cgroup}/freezer.state`, 'utf8').trim()
      : /^frozen (\d)$/m.exec(readFileSync(`${cgroup}/cgroup.events`, 'utf8'))?.[1];
  const [frozen, thawed] = name === 'v1' ? ['FROZEN', 'THAWED'] : ['1', '0'];

  test('freezes and thaws, and frozen processes fork no more', async () => {
    const cgroup = makeCgroup(mount);
    await startIn(cgroup, 'for i in 1 2 3 4; do (while :; do sleep 0.01 & wait; done) & done; wait');
    const held = handle(cgroup);
    await until('them to fork', () => held.processes().length > 4);
    await until('it to be frozen', () => held.freeze(100));
    expect(says(cgroup)).toBe(frozen);
    expect(held.processes()).toEqual(held.processes());
    held.thaw();
    await until('it to be thawed', () => says(cgroup) === thawed);
  });

  test('a process killed while frozen ends when thawed', async () => {
    const cgroup = makeCgroup(mount);
    const child = await startIn(cgroup, 'exec sleep 60');
    const held = handle(cgroup);
    await until('it to be frozen', () => held.freeze(100));
    expect(held.signal(SIGKILL)).toMatchObject({ found: 1, signalled: 1, errno: 0 });
    held.thaw();
    await until('it to end', () => child.signalCode === 'SIGKILL');
  });

  test('also thaws cgroups below it that were frozen, at any depth', async () => {
    const cgroup = makeCgroup(mount);
    const [paused, deep] = [join(cgroup, 'paused'), join(cgroup, '.between', 'deep')];
    for (const directory of [paused, deep]) mkdirSync(directory, { recursive: true });
    for (const directory of [paused, deep]) await startIn(directory, 'exec sleep 60');
    for (const directory of [paused, deep]) handle(directory).freeze(100);
    for (const directory of [paused, deep]) await until('it to be frozen', () => says(directory) === frozen);
    handle(cgroup).thaw();
    for (const directory of [paused, deep]) await until('it to be thawed', () => says(directory) === thawed);
  });

  test('thaws a frozen cgroup without another descriptor', async () => {
    const cgroup = makeCgroup(mount);
    await startIn(cgroup, 'exec sleep 60');
    const held = handle(cgroup);
    await until('it to be frozen', () => held.freeze(100));
    await withoutDescriptors(() => {
      held.thaw();
    });
    await until('it to be thawed', () => says(cgroup) === thawed);
  });

  test('with a limit of 0 does not wait', async () => {
    const cgroup = makeCgroup(mount);
    await startIn(cgroup, 'exec sleep 60');
    const held = handle(cgroup);
    expect(typeof held.freeze(0)).toBe('boolean');
    held.thaw();
  });

  test('fails to freeze a removed cgroup, but not to thaw it', () => {
    const cgroup = makeCgroup(mount);
    const held = handle(cgroup);
    rmdirSync(cgroup);
    expect(['ENOENT', 'ENODEV']).toContain(thrownBy(() => held.freeze(10)).code);
    held.thaw();
  });
});

test.runIf(hasMemoryV1)('a cgroup of another v1 hierarchy cannot be frozen', () => {
  const held = handle(makeCgroup(memoryV1));
  expect(thrownBy(() => held.freeze(10))).toMatchObject({ code: 'ENOENT', syscall: 'open' });
  held.close();
  for (const use of [() => held.freeze(0), () => held.thaw(), () => held.stop(1)]) expect(thrownBy(use)).toMatchObject({ code: 'EBADF' });
});
