import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { killsBetween, type OomTally } from '../../../../src/core/oom/oom-kill-count.js';
import { readHierarchies } from '../../../../src/host/linux/cgroup/hierarchies.js';
import { oomCgroup, OomCounters } from '../../../../src/host/linux/oom/oom-counters.js';
import { native } from '../../../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../../../support/cgroup.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const v1 = memoryController()?.version === 1;

let node: TestCgroup;
let opened: OomCounters[];
beforeEach(() => {
  node = testCgroup();
  opened = [];
});
afterEach(async () => {
  for (const counters of opened) counters.close();
  await node.cleanup();
});

function open(cgroup: string | undefined): OomCounters {
  const counters = new OomCounters(native, readHierarchies().memory, cgroup);
  opened.push(counters);
  return counters;
}

function read(counters: OomCounters): OomTally {
  const look = counters.read();
  for (;;) {
    const step = look.next();
    if (step.done === true) return step.value;
  }
}

/** The kernel kills so many processes in it, one after the other. */
async function killedIn(cgroup: TestCgroup, times = 1): Promise<void> {
  for (let kill = 0; kill < times; kill += 1) {
    const { ended } = await cgroup.spawn('tail', ['/dev/zero']);
    expect(await ended).toBe('SIGKILL');
  }
}

function limit(cgroup: TestCgroup): void {
  cgroup.limit(24n << 20n);
  if (v1) cgroup.write('memory.swappiness', '0');
  else cgroup.write('memory.swap.max', '0');
}

test('kills are counted in the cgroup that they hit, whichever cgroup had the limit', async () => {
  const [a, b] = [node.child('a'), node.child('b')];
  const inner = b.child('inner');
  limit(a);
  limit(b);
  await killedIn(a);
  const counters = open(node.path);
  const before = read(counters);
  expect(before.total).toBeUndefined(); // of the machine only
  expect(counters.moved).toBe(false);
  await killedIn(a);
  await killedIn(inner, 2);
  expect(counters.moved).toBe(true);
  const found = killsBetween(before, read(counters));
  const limitOf = (path: string) => (v1 ? { kind: 'unknown' } : { kind: 'cgroup', path });
  expect(found).toHaveLength(2);
  expect(found).toContainEqual({ cgroup: a.path, count: 1, limit: limitOf(a.path) });
  expect(found).toContainEqual({ cgroup: inner.path, count: 2, limit: limitOf(b.path) });
});

test("the kills of a removed cgroup are in the parent's counter on v2, and lost on v1", async () => {
  const source = node.child('source');
  const counters = open(node.path);
  const before = read(counters);
  const gone = source.child('gone');
  limit(gone);
  await killedIn(gone, 2);
  await gone.cleanup();
  const found = killsBetween(before, read(counters));
  expect(found).toEqual(v1 ? [] : [{ cgroup: source.path, count: 2, limit: { kind: 'unknown' } }]);
});

test('the total of the machine includes the kills in its cgroups', async () => {
  const counters = open(undefined);
  const before = read(counters);
  const leaf = node.child('leaf');
  limit(leaf);
  await killedIn(leaf, 3);
  const now = read(counters);
  expect(killsBetween(before, now)).toContainEqual(expect.objectContaining({ cgroup: leaf.path, count: 3 }));
  expect((now.total ?? 0) - (before.total ?? 0)).toBeGreaterThanOrEqual(3); // others on this machine may have been killed, too
});

test('the reader yields at every cgroup, and a removed node has no counters', async () => {
  for (let index = 0; index < 20; index += 1) node.child(`w${String(index)}`);
  const counters = open(node.path);
  const look = counters.read();
  let yields = 0;
  while (look.next().done !== true) yields += 1;
  expect(yields).toBeGreaterThanOrEqual(v1 ? 21 : 1); // v2: no process was killed, so nothing below is read
  await node.cleanup();
  expect(read(counters).cgroups.size).toBe(0);
});

test.each<[rule: string, cgroup: string | undefined, files: readonly string[], expected: string | undefined]>([
  ['all kills on the machine', undefined, [], undefined],
  ['kills in a container that sees its own cgroup as the root', undefined, ['cgroup.events'], '/'],
  ['kills in a cgroup', '/node', ['cgroup.events'], '/node'],
])('the OOM kills that concern a node: %s', (_rule, cgroup, files, expected) => {
  const mountPoint = temporaryDirectory();
  for (const file of files) writeFileSync(join(mountPoint, file), '');
  const hierarchy = { version: 2, controller: '', mountPoint, root: '/' } as const;
  expect(oomCgroup({ identity: { name: 'n', cgroup, cgroupVersion: 2 }, hierarchy })).toBe(expected);
});
