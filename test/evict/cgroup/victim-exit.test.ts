import { readdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import type { KillInProgress } from '../../../src/monitor/ports/ports.js';
import { native, type Binding } from '../../../src/native/index.js';
import { workload } from '../../core/support.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';

const hierarchy = memoryHierarchy();

let victim: TestCgroup;
const begun: KillInProgress[] = [];
const begin = (binding: Binding = native): KillInProgress => {
  const { path, dir } = victim;
  const startOrder = statSync(dir, { bigint: true }).ino;
  const kill = openCgroupEvictor(binding, { memory: hierarchy, unified: undefined, freezer: undefined }).begin(
    workload(path.slice(1), { id: path, path, startOrder }),
  );
  begun.push(kill);
  return kill;
};
const watched = (kill: KillInProgress): bigint[] => {
  const exits: bigint[] = [];
  kill.onExit((atNs) => exits.push(atNs));
  return exits;
};
const descriptors = () => readdirSync('/proc/self/fd').length;

beforeEach(() => {
  victim = testCgroup();
});
afterEach(async () => {
  for (const kill of begun.splice(0)) kill.close();
  await victim.cleanup();
});

test('the exit of the last process is reported once, and no process is left then', async () => {
  const { child } = await victim.spawn('sleep', ['600']);
  await victim.spawn('sleep', ['600']);
  const kill = begin();
  const beforeNs = process.hrtime.bigint();
  kill.terminate();
  const exits = watched(kill);
  expect(exits).toEqual([]); // on its own turn
  await eventually('the exit', () => exits.length > 0);
  expect(exits[0]).toBeGreaterThan(beforeNs);
  expect(kill.read().processes).toBe(0);
  expect(exits).toHaveLength(1);
  expect(child.killed).toBe(false); // it was evictd's signal
  expect(native.watchCount()).toBe(0);
});

test('the exit is not reported while one process is left', async () => {
  await victim.spawn('sleep', ['600'], { ignoring: 'TERM' });
  const { ended } = await victim.spawn('sleep', ['600']);
  const kill = begin();
  kill.terminate();
  const first = watched(kill);
  expect(await ended).toBe('SIGTERM');
  expect(first).toEqual([]);
  kill.kill();
  const second = watched(kill); // and the first is not called any more
  await eventually('the exit', () => second.length > 0);
  expect([first.length, second.length]).toEqual([0, 1]);
});

test('an exit before the watch is reported, too', async () => {
  const { ended } = await victim.spawn('sleep', ['600']);
  const kill = begin();
  kill.terminate();
  await ended;
  await eventually('no process', () => kill.read().processes === 0);
  const exits = watched(kill);
  expect(exits).toEqual([]); // on its own turn
  await eventually('the exit', () => exits.length > 0);
  await new Promise((later) => setTimeout(later, 20));
  expect(exits).toHaveLength(1);
  expect(native.watchCount()).toBe(0);
});

test('after close() there is no callback, and no descriptor is left', async () => {
  const before = descriptors();
  const { ended } = await victim.spawn('sleep', ['600']);
  const kill = begin();
  kill.terminate();
  const exits = watched(kill);
  kill.close();
  expect(native.watchCount()).toBe(0);
  await ended;
  await new Promise((later) => setTimeout(later, 20));
  expect(exits).toEqual([]);
  await eventually('the pipes of the child', () => descriptors() <= before + 2); // the waiter's own
});

test('without a watch there is no callback, and the kill continues', async () => {
  const { ended } = await victim.spawn('sleep', ['600']);
  const refuse = function (): never {
    throw Object.assign(new Error('EMFILE: no'), { code: 'EMFILE', syscall: 'epoll_create1' });
  };
  const kill = begin({ ...native, ProcessExit: refuse, MemcgEvents: refuse } as unknown as Binding);
  kill.terminate();
  const exits = watched(kill);
  expect(await ended).toBe('SIGTERM');
  await eventually('no process', () => kill.read().processes === 0);
  expect(exits).toEqual([]);
});
