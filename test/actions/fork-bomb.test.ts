import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../src/actions/kill-cgroup.js';
import { readHierarchies } from '../../src/host/linux/hierarchies.js';
import type { KillInProgress } from '../../src/monitor/ports.js';
import { native } from '../../src/native/index.js';
import { workload } from '../core/support.js';
import { testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { forkBomb, limitPids, type PidsLimit } from '../support/fork-bomb.js';
import { besideVictim, hasFreezer, hasUnified, thawBesides } from './beside.js';

const hierarchies = readHierarchies();
const none = { unified: undefined, freezer: undefined };

let victim: TestCgroup;
let limit: PidsLimit;
let kill: KillInProgress | undefined;

beforeEach(() => {
  victim = testCgroup();
  limit = limitPids(victim, 60);
});
afterEach(async () => {
  thawBesides();
  kill?.close();
  await victim.cleanup();
  await limit.cleanup();
});

const begin = (others: Partial<typeof hierarchies>) =>
  openCgroupEvictor(native, { ...hierarchies, ...others }).begin(
    workload(victim.path.slice(1), { path: victim.path, startOrder: statSync(victim.dir, { bigint: true }).ino }),
  );
const nobodyLeft = (of: KillInProgress) =>
  eventually('the last of them to end', () => {
    expect(of.kill().error).toBeUndefined();
    return of.read().processes === 0;
  });
const listed = () => readFileSync(`${victim.dir}/cgroup.procs`, 'utf8');

describe(`a fork bomb at its limit of processes (cgroup v${String(hierarchies.memory?.version)})`, () => {
  const explode = async () => {
    await victim.spawn('/bin/sh', ['-c', forkBomb(limit)]);
    await eventually('forks to be refused', () => limit.refusals() > 100);
  };

  test('with nothing but this cgroup: nothing survives', async () => {
    await explode();
    kill = begin(none);
    await nobodyLeft(kill);
    expect([listed(), limit.processes()]).toEqual(['', []]);
  });

  test.runIf(hasUnified)('in a cgroup of its own in the unified hierarchy, too: nothing survives', async () => {
    const beside = besideVictim('unified', victim);
    await explode();
    beside.join();
    kill = begin({ freezer: undefined });
    await nobodyLeft(kill);
    expect([listed(), beside.processes(), limit.processes()]).toEqual(['', [], []]);
    beside.cleanup();
  });

  test.runIf(hasFreezer)('in a freezer cgroup of its own: nothing survives, and it is thawed', async () => {
    const beside = besideVictim('freezer', victim);
    await explode();
    beside.join();
    kill = begin({ unified: undefined });
    await nobodyLeft(kill);
    expect([listed(), beside.processes(), limit.processes()]).toEqual(['', [], []]);
    expect(beside.read('freezer.state')).toBe('THAWED\n');
    beside.cleanup();
  });

  test('others of the same limit, and those who come while it is ended, live on', async () => {
    const bystander = testCgroup();
    try {
      const { pid } = await bystander.spawn('sleep', ['600']);
      await explode();
      kill = begin(none);
      await nobodyLeft(kill);
      expect(bystander.read('cgroup.procs').trim()).toBe(String(pid));
    } finally {
      await bystander.cleanup();
    }
  });
});
