import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { SLOWNESS } from '../support/slowness.js';
import { after, closing, openDescriptors, pause, runNode, thrownBy, until } from './kernel.js';

function startProcess(): { pid: number; child: ChildProcess } {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  after(() => void child.kill('SIGKILL'));
  return { pid: child.pid ?? 0, child };
}

const watch = (pids: readonly number[]) => {
  const wakes: number[] = [];
  return { owner: closing(new native.ProcessExit(pids, (bits) => wakes.push(bits))), wakes };
};

test('the watch fires when one of the processes exits, and is GONE when the last has', async () => {
  const [first, second] = [startProcess(), startProcess()];
  const { owner, wakes } = watch([first.pid, second.pid]);
  expect(owner.remaining).toBe(2);
  first.child.kill('SIGKILL');
  await until('the first exits', () => wakes.length === 1);
  expect([wakes, owner.remaining, owner.live]).toEqual([[native.WAKE.FIRED], 1, true]);
  second.child.kill('SIGKILL');
  await until('the second exits', () => wakes.length === 2);
  expect((wakes[1] ?? 0) & native.WAKE.GONE).toBe(native.WAKE.GONE);
  expect([owner.remaining, owner.live, owner.status().errno]).toEqual([0, false, 0]);
  expect(native.watchCount()).toBe(0);
});

test('a process that is not reaped yet has exited', async () => {
  const shell = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
  after(() => void shell.kill('SIGKILL'));
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const orphan = Number(line.toString()); // its parent became `sleep`, which does not wait for children
  const { wakes } = watch([orphan]);
  process.kill(orphan, 'SIGKILL');
  await until('GONE', () => wakes.length > 0);
  expect(wakes).toEqual([native.WAKE.GONE]);
});

test(
  'many more processes than descriptors are watched',
  async () => {
    const processes = Array.from({ length: 300 }, startProcess);
    const { owner, wakes } = watch(processes.map(({ pid }) => pid));
    expect([owner.remaining, owner.missed]).toEqual([300, 0]);
    for (const { child } of processes) child.kill('SIGKILL');
    await until('GONE', () => !owner.live, 60_000);
    expect((wakes.at(-1) ?? 0) & native.WAKE.GONE).toBe(native.WAKE.GONE);
    expect(wakes.length).toBeLessThan(300);
  },
  90_000 * SLOWNESS,
);

test('the watch is GONE without an exit if all processes have already ended', async () => {
  const { pid, child } = startProcess();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { owner, wakes } = watch([pid]);
  expect([owner.remaining, owner.missed]).toEqual([0, 0]);
  await until('GONE', () => wakes.length > 0);
  const { wakes: ofNobody } = watch([]);
  await until('GONE', () => ofNobody.length > 0);
  expect([wakes, ofNobody]).toEqual([[native.WAKE.GONE], [native.WAKE.GONE]]);
});

test('a process outside this pid namespace is counted as missed, and the others are watched', async () => {
  const { pid, child } = startProcess();
  const { owner, wakes } = watch([0, pid]);
  expect([owner.remaining, owner.missed]).toEqual([1, 1]);
  child.kill('SIGKILL');
  await until('GONE', () => wakes.length > 0);
  expect(thrownBy(() => watch([0]))).toMatchObject({ code: 'EPERM', syscall: 'pidfd_open' });
});

test('close() leaves no callback and no descriptor, also in the callback', async () => {
  const processes = Array.from({ length: 20 }, startProcess);
  const pids = processes.map(({ pid }) => pid);
  watch([]).owner.close(); // the waiter has started
  const before = openDescriptors();
  const { owner, wakes } = watch(pids);
  owner.close();
  owner.close();
  expect([owner.live, owner.remaining, openDescriptors()]).toEqual([false, 0, before]);
  const closed: number[] = [];
  const inside = closing(
    new native.ProcessExit(pids, (bits) => {
      closed.push(bits);
      inside.close();
    }),
  );
  processes[0]?.child.kill('SIGKILL');
  await until('the first exits', () => closed.length > 0);
  processes[1]?.child.kill('SIGKILL');
  await pause(50);
  expect([closed, wakes, openDescriptors()]).toEqual([[native.WAKE.FIRED], [], before]);
});

test('invalid arguments are refused', () => {
  expect(thrownBy(() => watch([1.5]))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  expect(thrownBy(() => watch([-1]))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  expect(thrownBy(() => watch('1' as unknown as number[]))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
});

test('without free descriptors as many processes as possible are watched, and the others are counted as missed', async () => {
  const { status, output } = await runNode(`
    const { spawn, execFileSync } = require('node:child_process');
    const children = Array.from({ length: 30 }, () => spawn('sleep', ['600'], { stdio: 'ignore' }));
    const pids = children.map(({ pid }) => pid);
    new native.ProcessExit([], () => undefined).close();
    execFileSync('prlimit', ['--nofile=' + (fs.readdirSync('/proc/self/fd').length + 50), '--pid', String(process.pid)]);
    const held = [];
    try { for (;;) held.push(fs.openSync('/dev/null')); } catch {}
    for (const fd of held.splice(0, 11)) fs.closeSync(fd);
    const watch = new native.ProcessExit(pids, (bits) => {
      if (!(bits & native.WAKE.GONE)) return;
      console.log('gone');
      for (const child of children) child.kill('SIGKILL');
    });
    console.log(watch.remaining, watch.missed);
    for (const child of children.slice(0, watch.remaining)) child.kill('SIGKILL');
  `);
  expect([status, output]).toEqual([0, '10 20\ngone']);
});
