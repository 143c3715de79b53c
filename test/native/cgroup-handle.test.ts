import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import {
  after,
  cgroup2,
  closing,
  hasCgroup2,
  hasMemoryV1,
  makeCgroup,
  makeDirectory,
  members,
  memoryV1,
  pause,
  runNode,
  startIn,
  thrownBy,
  until,
} from './kernel.js';
import { withoutDescriptors } from '../support/descriptors.js';
import { makeDeep, makeWide } from '../support/many-cgroups.js';

const { EPERM, EOPNOTSUPP } = constants.errno as Record<string, number>;
const { SIGKILL, SIGTERM } = constants.signals;

const handle = (cgroup: string, id?: bigint) => closing(new native.CgroupHandle(cgroup, id));
const hierarchies: [name: string, mount: string][] = [
  ...(hasMemoryV1 ? [['v1', memoryV1] as [string, string]] : []),
  ...(hasCgroup2 ? [['v2', cgroup2] as [string, string]] : []),
];

describe.each(hierarchies)('a cgroup of %s held by its directory', (_name, mount) => {
  test('finds and signals its processes and those of all cgroups below it, and no others', async () => {
    const cgroup = makeCgroup(mount);
    const [child, sibling] = [join(cgroup, 'child'), join(cgroup, 'sibling')];
    const grandchild = join(child, 'grandchild');
    for (const directory of [child, sibling, grandchild]) mkdirSync(directory);
    const inside = await Promise.all([cgroup, child, grandchild, sibling].map((directory) => startIn(directory, 'exec sleep 60')));
    const outside = await startIn(makeCgroup(mount), 'exec sleep 60');
    const held = handle(cgroup);
    expect(held.processes()).toEqual(inside.map(({ pid }) => pid).sort((a, b) => Number(a) - Number(b)));
    const before = process.hrtime.bigint();
    const { atNs, ...sent } = held.signal(SIGTERM);
    expect(sent).toEqual({ found: 4, signalled: 4, errno: 0, complete: true, emptyRounds: 0 });
    expect([atNs > before, atNs < process.hrtime.bigint()]).toEqual([true, true]);
    await until('all ended', () => inside.every(({ signalCode }) => signalCode === 'SIGTERM'));
    expect(outside.signalCode).toBeNull();
    expect(held.signal(SIGKILL)).toEqual({ found: 0, signalled: 0, errno: 0, atNs: 0n, complete: true, emptyRounds: 1 });
  });

  test('reads 512 of five thousand cgroups below it in a call, and continues there in the next call', async () => {
    const cgroup = makeCgroup(mount);
    const last = makeWide(cgroup, 5_000).at(-1) ?? '';
    const { pid } = await startIn(last, 'exec sleep 60');
    const held = handle(cgroup);
    expect(thrownBy(() => held.processes())).toMatchObject({ code: 'EFBIG' });
    const rounds = [0, 1].map(() => {
      const passes: number[] = [];
      for (let complete = false; !complete;) {
        const pass = held.signal(0);
        passes.push(pass.found);
        ({ complete } = pass);
      }
      return passes;
    });
    expect(rounds.map((passes) => passes.length)).toEqual([10, 10]); // of 5,001
    for (const passes of rounds) expect(passes.filter((found) => found > 0)).toEqual([1]);
    process.kill(pid ?? 0, 'SIGKILL');
    await until('it has left', () => members(last).length === 0);
    const empty: number[] = [];
    for (let pass = 0; pass < 21; pass++) empty.push(held.signal(0).emptyRounds);
    expect(empty).toEqual([...Array<number>(9).fill(0), ...Array<number>(10).fill(1), 2, 2]);
  });

  test('finds its processes at any depth with a handful of descriptors', async () => {
    const cgroup = makeCgroup(mount);
    const { pid } = await startIn(makeDeep(cgroup, 200), 'exec sleep 60');
    const held = handle(cgroup);
    // As many as one walk needs at a time.
    const spare = Array.from({ length: 10 }, () => openSync('/dev/null', 'r'));
    await withoutDescriptors(() => {
      for (const descriptor of spare) closeSync(descriptor);
      expect(held.processes()).toEqual([pid]);
    });
  });

  test('treats a cgroup with a name that begins with a dot like any other', async () => {
    const cgroup = makeCgroup(mount);
    const [hidden, dots] = [join(cgroup, '.hidden'), join(cgroup, '.hidden', '...')];
    for (const directory of [hidden, dots]) mkdirSync(directory);
    const inside = await Promise.all([hidden, dots].map((directory) => startIn(directory, 'exec sleep 60')));
    const held = handle(cgroup);
    expect(held.processes()).toEqual(inside.map(({ pid }) => pid).sort((a, b) => Number(a) - Number(b)));
    expect(held.signal(SIGKILL)).toMatchObject({ found: 2, signalled: 2, errno: 0 });
    await until('both ended', () => inside.every(({ signalCode }) => signalCode === 'SIGKILL'));
  });

  test('counts the processes with signal 0', async () => {
    const cgroup = makeCgroup(mount);
    const child = await startIn(cgroup, 'exec sleep 60');
    expect(handle(cgroup).signal(0)).toMatchObject({ found: 1, signalled: 1, errno: 0 });
    await pause(50);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  });

  test('ends processes that fork as fast as they can with a loop of signals', async () => {
    const cgroup = makeCgroup(mount);
    // Each loop replaces its child for ever; a process forked between two readings is found by the next.
    const fork = 'while :; do sleep 0.01 & wait; done';
    await startIn(cgroup, `for i in 1 2 3 4 5 6 7 8; do (${fork}) & done; ${fork}`);
    await until('many', () => members(cgroup).length > 8);
    const held = handle(cgroup);
    let empty = 0;
    for (let pass = 0; empty < 2 && pass < 1000; pass++) {
      const { found, errno } = held.signal(SIGKILL);
      expect(errno).toBe(0);
      empty = found === 0 ? empty + 1 : 0;
      await pause(1);
    }
    expect(empty).toBe(2);
    expect(members(cgroup)).toEqual([]);
  });

  test('signals more processes than are opened at a time', async () => {
    const cgroup = makeCgroup(mount);
    const count = 1200;
    // Perl's fork alone: an emulated processor needs long to start so many programs.
    await startIn(cgroup, `exec perl -e 'for (1..${String(count)}) { fork or last } sleep'`);
    await until('all of them', () => members(cgroup).length === count + 1, 30_000);
    expect(handle(cgroup).signal(SIGKILL)).toMatchObject({ found: count + 1, signalled: count + 1, errno: 0 });
    await until('none left', () => members(cgroup).length === 0, 30_000);
  });

  test('reads the list anew with each call, because v1 caches the list of an open file for a second', async () => {
    const cgroup = makeCgroup(mount);
    const held = handle(cgroup);
    for (let round = 0; round < 5; round++) {
      expect(held.processes()).toEqual([]);
      const child = await startIn(cgroup, 'exec sleep 60');
      expect(held.processes()).toEqual([child.pid]);
      held.signal(SIGKILL);
      await until('it ended', () => child.signalCode !== null);
    }
  });

  test('never signals this process', async () => {
    const cgroup = makeCgroup(mount);
    const { status, output } = await runNode(`
      fs.writeFileSync(${JSON.stringify(`${cgroup}/cgroup.procs`)}, String(process.pid));
      console.log(JSON.stringify(new native.CgroupHandle(${JSON.stringify(cgroup)}).signal(9)));
    `);
    expect({ status, output }).toEqual({
      status: 0,
      output: JSON.stringify({ found: 1, signalled: 0, errno: EPERM, complete: true, emptyRounds: 0 }),
    });
  });

  test('has no process if the cgroup was removed, and does not touch a new one with its name', async () => {
    const cgroup = makeCgroup(mount);
    const held = handle(cgroup);
    rmdirSync(cgroup);
    expect(held.signal(SIGKILL)).toMatchObject({ found: 0, signalled: 0, errno: 0 });
    mkdirSync(cgroup);
    const child = await startIn(cgroup, 'exec sleep 60');
    expect(held.signal(SIGKILL)).toMatchObject({ found: 0, signalled: 0, errno: 0 });
    expect(held.processes()).toEqual([]);
    await pause(50);
    expect(child.signalCode).toBeNull();
  });

  test('has the inode as its id, and another one under the name is ESTALE', () => {
    const cgroup = makeCgroup(mount);
    const { id } = handle(cgroup);
    expect(id).toBe(statSync(cgroup, { bigint: true }).ino);
    expect(handle(cgroup, id).id).toBe(id);
    rmdirSync(cgroup);
    mkdirSync(cgroup);
    expect(thrownBy(() => handle(cgroup, id))).toMatchObject({ code: 'ESTALE', errno: -116, syscall: 'open', path: cgroup });
    expect(handle(cgroup).id).not.toBe(id);
  });

  test('leaves no descriptor behind', async () => {
    const cgroup = makeCgroup(mount);
    mkdirSync(join(cgroup, 'child'));
    await startIn(join(cgroup, 'child'), 'exec sleep 60');
    const { output } = await runNode(`
      const held = new native.CgroupHandle(${JSON.stringify(cgroup)});
      const open = () => fs.readdirSync('/proc/self/fd').length;
      const before = open();
      for (let i = 0; i < 1000; i++) { held.signal(0); held.processes(); }
      const used = open() - before;
      held.close();
      held.close();
      console.log(used, open() - before);
    `);
    expect(output).toBe('0 -1');
  });

  test('signals all in small groups if the process has hardly a descriptor left', async () => {
    const cgroup = makeCgroup(mount);
    await startIn(cgroup, 'for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait');
    await until('ten', () => members(cgroup).length === 10);
    const { output } = await runNode(`
      const held = new native.CgroupHandle(${JSON.stringify(cgroup)});
      const taken = [];
      try { for (;;) taken.push(fs.openSync('/dev/null', 'r')); } catch {}
      for (const fd of taken.splice(0, 4)) fs.closeSync(fd);
      const result = held.signal(0);
      for (const fd of taken) fs.closeSync(fd);
      console.log(JSON.stringify(result));
    `);
    expect(JSON.parse(output)).toMatchObject({ found: 10, signalled: 10, errno: 0 });
  });
});

describe('a cgroup held by its directory', () => {
  test('does not signal a process that is not a member at the second reading', async () => {
    // Pipes for cgroup.procs: the first reading lists the process, the second and the one that looks whether it has moved
    // to a cgroup below do not, as if the pid had been reused in between.
    const directory = makeDirectory();
    const [procs, second, third] = ['cgroup.procs', 'second', 'third'].map((name) => join(directory, name)) as [string, string, string];
    execFileSync('mkfifo', [procs, second, third]);
    const bystander = spawn('sleep', ['60']);
    after(() => void bystander.kill('SIGKILL'));
    const writer = spawn('/bin/sh', [
      '-c',
      `exec 3> "$0"; mv "$1" "$0"; echo ${String(bystander.pid)} >&3; exec 3>&-; exec 3> "$0"; mv "$2" "$0"; exec 3>&-; : > "$0"`,
      procs,
      second,
      third,
    ]);
    after(() => void writer.kill('SIGKILL'));
    const { output } = await runNode(`console.log(JSON.stringify(new native.CgroupHandle(${JSON.stringify(directory)}).signal(9)))`);
    expect(JSON.parse(output)).toMatchObject({ found: 1, signalled: 0, errno: 0 });
    await pause(50);
    expect(bystander.signalCode).toBeNull();
  });

  test('never signals processes without a number, pid 1, or numbers from garbage', () => {
    const directory = makeDirectory();
    writeFileSync(join(directory, 'cgroup.procs'), '0\n1\n0\n\n-\nx\n');
    expect(handle(directory).signal(0)).toMatchObject({ found: 3, signalled: 0, errno: EPERM });
    expect(handle(directory).processes()).toEqual([0, 0, 1]);
  });

  test('reads a list of ten thousand processes, longer than one read', () => {
    const directory = makeDirectory();
    const pids = Array.from({ length: 10_000 }, (_, i) => 1_000_000 + i);
    writeFileSync(join(directory, 'cgroup.procs'), `${pids.join('\n')}\n`);
    expect(handle(directory).processes()).toEqual(pids);
  });

  test.runIf(hasCgroup2)('ends all processes at once with cgroup.kill', async () => {
    const cgroup = makeCgroup(cgroup2);
    mkdirSync(join(cgroup, 'child'));
    const children = await Promise.all([cgroup, join(cgroup, 'child')].map((directory) => startIn(directory, 'exec sleep 60')));
    handle(cgroup).kill();
    await until('all ended', () => children.every(({ signalCode }) => signalCode === 'SIGKILL'));
  });

  test.runIf(hasCgroup2)('gives ENOENT for cgroup.kill of a removed cgroup, and kills no process of a later cgroup', async () => {
    const cgroup = makeCgroup(cgroup2);
    const held = handle(cgroup);
    rmdirSync(cgroup);
    mkdirSync(cgroup);
    const child = await startIn(cgroup, 'exec sleep 60');
    expect(thrownBy(() => held.kill())).toMatchObject({ code: 'ENOENT' });
    await pause(50);
    expect(child.signalCode).toBeNull();
  });

  test.runIf(hasMemoryV1)('has no cgroup.kill on v1', () => {
    const cgroup = makeCgroup(memoryV1);
    expect(thrownBy(() => handle(cgroup).kill())).toMatchObject({ code: 'ENOENT', syscall: 'open', path: `${cgroup}/cgroup.kill` });
  });

  test.runIf(hasCgroup2)('lists the processes of threaded cgroups in the domain above, and their own list is EOPNOTSUPP', async () => {
    const domain = makeCgroup(cgroup2);
    const threaded = join(domain, 'threaded');
    mkdirSync(threaded);
    writeFileSync(`${threaded}/cgroup.type`, 'threaded');
    const child = await startIn(domain, 'exec sleep 60');
    writeFileSync(`${threaded}/cgroup.threads`, String(child.pid));
    expect(readFileSync(`${threaded}/cgroup.threads`, 'utf8')).toBe(`${String(child.pid)}\n`);
    expect(handle(threaded).signal(SIGKILL)).toMatchObject({ found: 0, signalled: 0, errno: EOPNOTSUPP });
    expect(handle(domain).signal(SIGKILL)).toMatchObject({ found: 1, signalled: 1, errno: 0 });
    await until('it ended', () => child.signalCode === 'SIGKILL');
  });

  test('gives ENOENT for a missing directory, and EBADF when closed', () => {
    expect(thrownBy(() => handle('/proc/none'))).toMatchObject({ code: 'ENOENT', errno: -2, syscall: 'open', path: '/proc/none' });
    const held = handle(makeDirectory());
    held.close();
    held.close();
    for (const use of [() => held.signal(0), () => held.kill(), () => held.processes()]) {
      expect(thrownBy(use)).toMatchObject({ code: 'EBADF' });
    }
  });

  test.each([-1, 65, 1.5, NaN])('refuses signal %s with a RangeError', (signal) => {
    expect(thrownBy(() => handle(makeDirectory()).signal(signal))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  });
});
