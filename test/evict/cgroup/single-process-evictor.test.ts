import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WorkloadProcess } from '../../../src/core/workload/process.js';
import type { Protection, Workload } from '../../../src/core/workload/workload.js';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import { openProcessEvictor } from '../../../src/evict/cgroup/single-process-evictor.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { Evictor, KillInProgress } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { workload as anyWorkload } from '../../core/support.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';

const { memory } = readHierarchies();
const others: Evictor = {
  begin: () => {
    throw new Error('the whole workload');
  },
};
const evictor = openProcessEvictor(native, memory, { cgroups: openCgroupEvictor(native, readHierarchies()), others });

let victim: TestCgroup;
const begun: KillInProgress[] = [];

beforeEach(() => {
  victim = testCgroup();
});
afterEach(async () => {
  for (const kill of begun.splice(0)) kill.close();
  await victim.cleanup();
});

const workload = (protection?: Protection): Workload =>
  anyWorkload(victim.path.slice(1), { path: victim.path, startOrder: statSync(victim.dir, { bigint: true }).ino, protection });

function chosen(pid: number, overrides: Partial<WorkloadProcess> = {}): WorkloadProcess {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
  const startTicks = BigInt(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 0);
  const memory = { residentBytes: 1n, anonBytes: 1n, swapBytes: 0n };
  return { path: victim.path, pid, startTicks, command: 'sleep', ...memory, oomScore: 0, ...overrides };
}

function begin(process: WorkloadProcess, of = workload()): KillInProgress {
  const kill = evictor.begin(of, undefined, 0n, false, process);
  begun.push(kill);
  return kill;
}

test('the process ends, and the other processes of its workload continue', async () => {
  const leak = await victim.spawn('sleep', ['600']);
  const session = await victim.spawn('sleep', ['600']);
  const kill = begin(chosen(leak.pid));
  expect(kill.read()).toMatchObject({ processes: 1, removed: false });
  expect(kill.read().usageBytes).toBeTypeOf('bigint');
  const exited = new Promise((resolve) => {
    kill.onExit(resolve);
  });
  expect(kill.kill()).toMatchObject({ processes: 1, error: undefined });
  expect(await leak.ended).toBe('SIGKILL');
  await exited;
  await eventually('it to be gone', () => kill.read().processes === 0);
  expect(kill.kill()).toMatchObject({ processes: 0, error: undefined });
  expect(victim.read('cgroup.procs').trim()).toBe(String(session.pid));
});

test('a process with memory.oom.group stands for that cgroup, the workload shows the freed memory, and the rest continues', async () => {
  const group = victim.child('group');
  const [leak, helper] = [await group.spawn('sleep', ['600']), await group.spawn('sleep', ['600'])];
  const session = await victim.child('session').spawn('sleep', ['600']);
  const id = statSync(group.dir, { bigint: true }).ino;
  const kill = begin(chosen(leak.pid, { group: { path: group.path, id, anonBytes: 1n } }));
  expect(kill.read()).toMatchObject({ processes: 2, removed: false });
  expect(kill.kill()).toMatchObject({ error: undefined });
  expect(await Promise.all([leak.ended, helper.ended])).toEqual(['SIGKILL', 'SIGKILL']);
  await eventually('the group to be empty', () => kill.read().processes === 0);
  await group.cleanup();
  expect(kill.read()).toMatchObject({ processes: 0, removed: false });
  expect(kill.read().usageBytes).toBeTypeOf('bigint');
  expect(session.child.exitCode ?? session.child.signalCode).toBeNull();
  expect(() => begin(chosen(session.pid, { group: { path: victim.path, id, anonBytes: 1n } }))).toThrow(/another cgroup has its name now/);
});

test('SIGTERM reaches a stopped process, and a process that ignores it stays until SIGKILL', async () => {
  const stopped = await victim.spawn('perl', ['-e', '$SIG{TERM} = sub { exit 7 }; $| = 1; print "ready"; sleep 1 while 1']);
  if (stopped.child.stdout) await once(stopped.child.stdout, 'data');
  process.kill(stopped.pid, 'SIGSTOP');
  expect(begin(chosen(stopped.pid)).terminate()).toMatchObject({ processes: 1, error: undefined });
  await stopped.ended;
  expect(stopped.child.exitCode).toBe(7); // its handler has run
  const deaf = await victim.spawn('sleep', ['600'], { ignoring: 'TERM' });
  const kill = begin(chosen(deaf.pid));
  kill.terminate();
  expect(kill.read().processes).toBe(1);
  kill.kill();
  expect(await deaf.ended).toBe('SIGKILL');
});

test('a process that its parent has not reaped has ended', async () => {
  // The shell becomes a program that reaps nothing.
  const parent = await victim.spawn('/bin/sh', ['-c', 'sleep 600 & exec sleep 600']);
  const child = await eventually('the child', () => {
    const pids = victim.read('cgroup.procs').trim().split('\n').map(Number);
    return pids.find((pid) => pid !== parent.pid);
  });
  const kill = begin(chosen(child));
  kill.kill();
  await eventually('the zombie', () => readFileSync(`/proc/${String(child)}/stat`, 'latin1').includes(') Z '));
  expect(kill.read().processes).toBe(0);
});

test.each<[what: string, overrides: Partial<WorkloadProcess>]>([['a later process with its pid', { startTicks: 1n }]])(
  '%s is not signalled',
  async (_what, overrides) => {
    const { pid, child } = await victim.spawn('sleep', ['600']);
    expect(() => begin(chosen(pid, overrides))).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ESRCH' }) as Error);
    expect(child.exitCode).toBeNull();
  },
);

test('a process that has left its workload is not signalled', async () => {
  const elsewhere = spawn('sleep', ['600']);
  try {
    await once(elsewhere, 'spawn');
    expect(() => begin(chosen(elsewhere.pid ?? 0))).toThrow(/has left its workload/);
  } finally {
    elsewhere.kill('SIGKILL');
  }
});

test('a process that has ended is gone, which is not a failed kill', async () => {
  const { pid, child, ended } = await victim.spawn('sleep', ['600']);
  const before = chosen(pid);
  child.kill('SIGKILL');
  await ended;
  expect(() => begin(before)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ESRCH' }) as Error);
});

test('a protected workload keeps the process', async () => {
  const { pid } = await victim.spawn('sleep', ['600']);
  expect(() => begin(chosen(pid), workload({ kind: 'critical' }))).toThrow(
    expect.objectContaining({ code: 'EVICTD_KILL_PROTECTED' }) as Error,
  );
});

test('the eviction of a whole workload is left to the other evictors', () => {
  expect(() => evictor.begin(workload())).toThrow('the whole workload');
});
