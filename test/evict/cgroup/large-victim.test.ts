import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { KillInProgress } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { workload } from '../../core/support.js';
import { memoryController, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { makeDeep, makeWide } from '../../support/many-cgroups.js';
import { stateOf } from '../../support/process-state.js';

// Victims with more cgroups than one look lists. On v2 cgroup.kill ends them as any other.
const isV1 = memoryController()?.version === 1;
const evictor = openCgroupEvictor(native, readHierarchies());

let victim: TestCgroup;
let kill: KillInProgress;
const begin = (): KillInProgress => {
  const { path, dir } = victim;
  return (kill = evictor.begin(workload(path.slice(1), { id: path, path, startOrder: statSync(dir, { bigint: true }).ino })));
};

beforeEach(() => {
  victim = testCgroup();
});
afterEach(async () => {
  kill.close();
  await victim.cleanup();
});

const killAll = () =>
  eventually('the last process to end', () => {
    kill.kill();
    return kill.read().processes === 0;
  });

/** Starts a script in a cgroup below the victim. */
async function startBelow(directory: string, script: string) {
  const started = await victim.spawn('/bin/sh', ['-c', `echo $$ > ${directory}/cgroup.procs; echo there; ${script}`]);
  let output = '';
  started.child.stdout?.on('data', (text: Buffer) => (output += text.toString()));
  await eventually('it to be there', () => output.includes('there'));
  return { ...started, output: () => output };
}

describe('a large victim ends', () => {
  test('where the processes are in one of two thousand cgroups, and only then is reported as ended', async () => {
    const children = makeWide(victim.dir, 2_000);
    const inside = await Promise.all([0, 700, 1_400, 1_999].map((index) => startBelow(children[index] ?? '', 'exec sleep 600')));
    begin();
    for (let look = 0; look < 20; look++) expect(kill.read().processes).toBeGreaterThan(0);
    await killAll();
    for (const { ended, pid } of inside) {
      expect(stateOf(pid)).not.toBe('S');
      expect(await ended).toBe('SIGKILL');
    }
  });

  test.each([200, 700])('where the processes are %d levels below', async (depth) => {
    const { ended } = await startBelow(makeDeep(victim.dir, depth), 'exec sleep 600');
    begin();
    await killAll();
    expect(await ended).toBe('SIGKILL');
  });

  test('where the processes fork all the time', async () => {
    const children = makeWide(victim.dir, 1_000);
    for (const index of [10, 990]) await startBelow(children[index] ?? '', 'while :; do sleep 0.01 & done 2>/dev/null');
    begin();
    await killAll();
  });

  test.runIf(isV1)('by several calls, each of which reads a part of it', async () => {
    const children = makeWide(victim.dir, 2_000);
    await Promise.all(children.filter((_, index) => index % 100 === 0).map((child) => startBelow(child, 'exec sleep 600')));
    begin();
    const signalled = [1, 2, 3, 4].map(() => kill.kill().processes ?? NaN);
    expect(signalled.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(Math.max(...signalled)).toBeLessThan(20);
  });
});

test.runIf(isV1)('SIGTERM is sent to each process once, part by part', async () => {
  const children = makeWide(victim.dir, 1_500);
  const script = 'trap "echo TERM" TERM; while :; do sleep 0.02; done';
  const inside = await Promise.all([0, 500, 1_000, 1_499].map((index) => startBelow(children[index] ?? '', script)));
  begin();
  kill.terminate();
  await eventually('all to get it', () => {
    kill.read();
    return inside.every(({ output }) => output().includes('TERM'));
  });
  for (let look = 0; look < 10; look++) kill.read();
  const polite = await startBelow(children[700] ?? '', 'trap "echo TERM" TERM; echo ready; while :; do sleep 0.02; done');
  await eventually('it to be ready', () => polite.output().includes('ready'));
  for (let look = 0; look < 10; look++) kill.read();
  for (const { output } of inside) expect(output().match(/TERM/g)).toHaveLength(1);
  expect(polite.output()).not.toContain('TERM');
});
