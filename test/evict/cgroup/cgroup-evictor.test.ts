import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import type { Protection, Workload } from '../../../src/core/workload/workload.js';
import { HostError } from '../../../src/errors.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { KillInProgress } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { workload as anyWorkload } from '../../core/support.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { holdMemory } from '../../support/hold-memory.js';

const hierarchies = readHierarchies();
const evictor = openCgroupEvictor(native, hierarchies);
/** cgroup.kill needs no list of processes. */
const isV2 = hierarchies.memory?.version === 2;

const workload = ({ path, dir }: TestCgroup, protection?: Protection): Workload =>
  anyWorkload(path.slice(1), { id: path, path, startOrder: statSync(dir, { bigint: true }).ino, protection });

let victim: TestCgroup;
const begun: KillInProgress[] = [];
const begin = (of: Workload = workload(victim)): KillInProgress => {
  const kill = evictor.begin(of);
  begun.push(kill);
  return kill;
};
/** What the monitor does: signal, read, signal again until no process is left. */
const killAll = (kill: KillInProgress) =>
  eventually('the last process to end', () => {
    kill.kill();
    return kill.read().processes === 0;
  });

beforeEach(() => {
  victim = testCgroup();
});
afterEach(async () => {
  for (const kill of begun.splice(0)) kill.close();
  await victim.cleanup();
});

describe('SIGKILL', () => {
  test('ends every process, and its memory is freed', async () => {
    const { ended } = await victim.spawn('sleep', ['600']);
    await holdMemory(victim, 30);
    const kill = begin();
    await eventually('30 MiB', () => (kill.read().usageBytes ?? 0n) > 30n * 1024n * 1024n);
    const sent = kill.kill();
    expect(sent.error).toBeUndefined();
    if (isV2) expect(sent.processes).toBeUndefined();
    else expect(sent.processes).toBeGreaterThanOrEqual(4); // sleep; sh, tail and sleep
    await killAll(kill);
    expect(await ended).toBe('SIGKILL');
    await eventually('the memory', () => (kill.read().usageBytes ?? 0n) < 4n * 1024n * 1024n);
    expect(kill.read()).toMatchObject({ processes: 0, removed: false });
  });

  test('ends the processes in the cgroups below', async () => {
    const inner = victim.child('a').child('b');
    const { ended } = await inner.spawn('sleep', ['600']);
    const kill = begin();
    expect(kill.read().processes).toBe(1);
    await killAll(kill);
    expect(await ended).toBe('SIGKILL');
  });

  test('ends a process that forks all the time', async () => {
    await victim.spawn('/bin/sh', ['-c', 'while :; do sleep 0.01 & done 2>/dev/null']);
    const kill = begin();
    await eventually('it to have forked', () => kill.read().processes > 10);
    await killAll(kill);
    expect(readFileSync(`${victim.dir}/cgroup.procs`, 'utf8')).toBe('');
  });

  test('ends no other process', async () => {
    const bystander = testCgroup();
    try {
      const { pid } = await bystander.spawn('sleep', ['600']);
      await victim.spawn('sleep', ['600']);
      await killAll(begin());
      expect(bystander.read('cgroup.procs').trim()).toBe(String(pid));
    } finally {
      await bystander.cleanup();
    }
  });
});

describe('SIGTERM', () => {
  test('leaves a process that ignores it until SIGKILL', async () => {
    const { ended } = await victim.spawn('sleep', ['600'], { ignoring: 'TERM' });
    const polite = await victim.spawn('sleep', ['600']);
    const kill = begin();
    expect(kill.terminate()).toMatchObject({ processes: 2, error: undefined });
    expect(await polite.ended).toBe('SIGTERM');
    expect(kill.read().processes).toBe(1);
    await killAll(kill);
    expect(await ended).toBe('SIGKILL');
  });

  test('reaches a stopped process, which handles it', async () => {
    const { child, pid } = await victim.spawn('/bin/sh', ['-c', 'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done']);
    const said = (child.stdout ?? child) as NodeJS.ReadableStream;
    await once(said, 'data');
    process.kill(pid, 'SIGSTOP');
    const exit = once(child, 'exit');
    begin().terminate();
    expect(await exit).toEqual([3, null]);
  });
});

describe('a victim that has changed since the decision', () => {
  test('was removed before, so nothing is signalled', () => {
    const of = workload(victim);
    rmdirSync(victim.dir);
    expect(() => begin(of)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ENOENT' }));
    mkdirSync(victim.dir);
  });

  test('was made again under its name, so nothing is signalled', () => {
    const of = workload(victim);
    rmdirSync(victim.dir);
    mkdirSync(victim.dir);
    expect(() => begin(of)).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_GONE', errno: 'ESTALE' }));
  });

  test('is made again after the kill began, and the new cgroup is neither signalled nor measured', async () => {
    await victim.spawn('sleep', ['600']);
    const kill = begin();
    await victim.cleanup();
    mkdirSync(victim.dir);
    const { pid } = await victim.spawn('sleep', ['600']);
    expect(kill.kill()).toMatchObject({ processes: 0 });
    expect(kill.read()).toMatchObject({ processes: 0, usageBytes: undefined, removed: true });
    expect(victim.read('cgroup.procs').trim()).toBe(String(pid));
  });

  test('has become empty, and is already gone', () => {
    const kill = begin();
    expect(kill.kill()).toMatchObject({ processes: isV2 ? undefined : 0, error: undefined });
    expect(kill.read()).toMatchObject({ processes: 0, removed: false });
  });
});

test.each<[rule: string, protection: Protection]>([
  ['critical', { kind: 'critical' }],
  ['evictd itself', { kind: 'self' }],
  ['a workload that contains a critical one', { kind: 'contains', name: 'db' }],
])('evictd never signals %s', async (_rule, protection) => {
  const { pid } = await victim.spawn('sleep', ['600']);
  expect(() => begin(workload(victim, protection))).toThrow(HostError);
  expect(() => begin(workload(victim, protection))).toThrow(expect.objectContaining({ code: 'EVICTD_KILL_PROTECTED' }));
  expect(victim.read('cgroup.procs').trim()).toBe(String(pid));
});

test('a kill that is closed twice and used afterwards affects no process', async () => {
  const { pid } = await victim.spawn('sleep', ['600']);
  const kill = begin();
  kill.close();
  kill.close();
  expect(kill.kill()).toMatchObject({ processes: 0, error: expect.stringContaining('EBADF') as string });
  // The numbers of its descriptors are given out again: what they mean now is not the victim's.
  const others = Array.from({ length: 4 }, () => openSync('/proc/sys/kernel/pid_max', 'r'));
  expect(kill.read()).toMatchObject({ usageBytes: undefined, processes: 1 });
  for (const file of others) closeSync(file);
  expect(victim.read('cgroup.procs').trim()).toBe(String(pid));
});

test('a workload that was already killed and has ended is not an error, and another error is one', async () => {
  const gone = workload(victim);
  const replaced = { ...gone, startOrder: gone.startOrder + 1n };
  for (const of of [replaced, gone]) {
    if (of === gone) await victim.cleanup();
    expect(() => evictor.begin(of)).toThrow(HostError);
    const kill = evictor.begin(of, undefined, 0n, true);
    expect(kill.kill()).toMatchObject({ processes: 0, error: undefined });
    expect(kill.read()).toEqual({ processes: 0, usageBytes: undefined, removed: true });
    kill.close();
  }
  expect(() => evictor.begin({ ...gone, protection: { kind: 'critical' } }, undefined, 0n, true)).toThrow('protected');
});
