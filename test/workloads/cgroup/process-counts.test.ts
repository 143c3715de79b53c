import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryController, memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';

const v1 = memoryController()?.version === 1;
const { pids } = readHierarchies();

let node: TestCgroup;
beforeEach(() => {
  node = testCgroup();
});
afterEach(() => node.cleanup());

/** By name, as they are counted now. */
function counts(controller = pids): Record<string, bigint | undefined> {
  const identity = { name: node.path, cgroup: node.path, cgroupVersion: memoryController()?.version ?? 2 };
  const config = { workloads: [{ cgroup: node.path }], rules: [] };
  const source = openWorkloads(config, native, { identity, hierarchy: memoryHierarchy(), pids: controller }, false);
  try {
    const { usages, processes } = source.candidates();
    expect(usages.every(({ stats }) => stats?.processes === undefined)).toBe(true);
    const counted = processes?.();
    return Object.fromEntries(usages.map(({ workload }) => [workload.name, counted?.get(workload.id)]));
  } finally {
    source.close();
  }
}

/** A process of Node's has several. */
const THREADS = 'setInterval(() => {}, 1e6)';

test('without the pids controller the listed processes count, with those below', async () => {
  const [one, two] = [node.child('one'), node.child('two')];
  await one.spawn('/bin/sleep', ['600']);
  await two.child('inner').spawn('/bin/sleep', ['600']);
  if (v1) await two.spawn('/bin/sleep', ['600']);
  expect(counts(undefined)).toEqual({ one: 1n, two: v1 ? 2n : 1n });
});

test.runIf(pids !== undefined)('with the pids controller threads count, too', async () => {
  const batch = node.child('batch');
  const { pid } = await batch.spawn(process.execPath, ['-e', THREADS]);
  const inPids = `/sys/fs/cgroup/pids${batch.path}`;
  if (v1) {
    expect(counts(), 'its cgroup of that hierarchy is empty').toEqual({ batch: 1n });
    for (const directory of [`/sys/fs/cgroup/pids${node.path}`, inPids]) mkdirSync(directory);
    writeFileSync(`${inPids}/cgroup.procs`, String(pid));
  }
  try {
    await eventually('its threads to be counted', () => (counts().batch ?? 0n) >= 4n);
  } finally {
    await node.cleanup();
    if (v1 && existsSync(inPids)) for (const directory of [inPids, `/sys/fs/cgroup/pids${node.path}`]) await removed(directory);
  }
});

/** A killed process has not left yet. */
async function removed(directory: string): Promise<void> {
  await eventually(`${directory} to be empty`, () => {
    try {
      rmdirSync(directory);
      return true;
    } catch {
      return false;
    }
  });
}
