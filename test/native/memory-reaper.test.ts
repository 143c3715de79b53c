import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import {
  addonFile,
  after,
  cgroup2,
  closing,
  hasMemoryV1,
  isEmulated,
  makeCgroup,
  memoryV1,
  openDescriptors,
  runNode,
  startHog,
  startIn,
  thrownBy,
  threadsNamed,
  until,
} from './kernel.js';

const { SIGKILL } = constants.signals;
const anywhere = hasMemoryV1 ? memoryV1 : cgroup2;
const MIB = 1024 * 1024;
const freezerV1 = '/sys/fs/cgroup/freezer';
const reapers = (): number => threadsNamed('evictd-reaper');
const canFreeze = hasMemoryV1 && existsSync(`${freezerV1}/cgroup.procs`);

describe.runIf(!isEmulated)('the memory of dying processes', () => {
  test.runIf(canFreeze)('is freed for a process that does not run, because it is frozen', async () => {
    const cgroup = makeCgroup(memoryV1);
    const frozen = makeCgroup(freezerV1);
    const state = `${frozen}/freezer.state`;
    const hog = await startHog(cgroup);
    await hog.take(100);
    const usage = () => Number(readFileSync(`${cgroup}/memory.usage_in_bytes`, 'utf8'));
    expect(usage()).toBeGreaterThan(100 * MIB);
    writeFileSync(`${frozen}/cgroup.procs`, readFileSync(`${cgroup}/cgroup.procs`, 'utf8'));
    after(() => {
      writeFileSync(state, 'THAWED');
    });
    writeFileSync(state, 'FROZEN');
    await until('it to be frozen', () => readFileSync(state, 'utf8') === 'FROZEN\n');
    const held = closing(new native.CgroupHandle(cgroup));
    const reaper = closing(new native.MemoryReaper());
    expect(held.signal(SIGKILL, reaper)).toMatchObject({ signalled: 1, errno: 0 });
    await until('it to be taken back', () => reaper.counts().released === 1);
    expect(usage()).toBeLessThan(60 * MIB);
    expect(held.processes()).toHaveLength(1); // on v1 it ends when it is thawed
    writeFileSync(state, 'THAWED');
    await until('it to end', () => held.processes().length === 0);
    expect(reaper.counts().errno).toBe(0);
  });

  test('of one process: EINVAL while it lives, ESRCH when it has ended', async () => {
    const child = spawn('sleep', ['60']);
    after(() => void child.kill('SIGKILL'));
    const pidfd = closing(new native.Pidfd(child.pid ?? 0));
    expect(
      thrownBy(() => {
        pidfd.release();
      }),
    ).toMatchObject({ code: 'EINVAL', syscall: 'process_mrelease' });
    const ended = once(child, 'exit');
    pidfd.signal(SIGKILL);
    await ended;
    expect(
      thrownBy(() => {
        pidfd.release();
      }),
    ).toMatchObject({ code: 'ESRCH', errno: -3 });
    pidfd.close();
    expect(
      thrownBy(() => {
        pidfd.release();
      }),
    ).toMatchObject({ code: 'EBADF' });
  });

  test('is not freed for more processes than find room, and none of their descriptors is kept', async () => {
    const cgroup = makeCgroup(anywhere);
    await startIn(cgroup, 'i=0; while [ $i -lt 200 ]; do sleep 120 & i=$((i + 1)); done; echo all; wait');
    const held = closing(new native.CgroupHandle(cgroup));
    await until('all of them', () => held.processes().length === 201);
    const before = openDescriptors();
    const reaper = closing(new native.MemoryReaper());
    expect(held.signal(SIGKILL, reaper)).toMatchObject({ found: 201, signalled: 201 });
    await until('all ended', () => held.processes().length === 0);
    await until('none is held', () => openDescriptors() <= before);
  });

  test('is freed by a thread that exists from the start and ends with close(), which may be called twice', async () => {
    await until('those of others have ended', () => reapers() === 0);
    const reaper = new native.MemoryReaper();
    expect(reapers()).toBe(1);
    reaper.close();
    reaper.close();
    expect(reaper.counts()).toEqual({ released: 0, errno: 0 });
    await until('the thread to end', () => reapers() === 0);
    const held = closing(new native.CgroupHandle(makeCgroup(anywhere)));
    expect(held.signal(0, reaper)).toMatchObject({ found: 0, signalled: 0, errno: 0 });
  });

  test('is freed only by an object of this class', () => {
    const held = closing(new native.CgroupHandle(makeCgroup(anywhere)));
    for (const other of [{}, held, null, 1, Object.create(native.MemoryReaper.prototype as object) as object]) {
      expect(thrownBy(() => held.signal(0, other as never))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    }
  });

  test('does not delay the end of an environment', async () => {
    const { status, output } = await runNode(`
      const { Worker } = require('node:worker_threads');
      const worker = new Worker('new (require(' + JSON.stringify(${JSON.stringify(addonFile)}) + ').MemoryReaper)()', { eval: true });
      worker.on('exit', (code) => console.log('worker', code));
      new native.MemoryReaper();
    `);
    expect({ status, output }).toEqual({ status: 0, output: 'worker 0' });
  });
});
