import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import { native } from '../../../src/native/index.js';
import { workload } from '../../core/support.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { besideVictim, hasFreezer, hasUnified, thawBesides, type Beside } from './beside.js';

const hierarchies = readHierarchies();

let victim: TestCgroup;
let bystander: TestCgroup;
beforeEach(() => {
  victim = testCgroup();
  bystander = testCgroup();
});
afterEach(async () => {
  thawBesides();
  await victim.cleanup();
  await bystander.cleanup();
});

const evict = () =>
  openCgroupEvictor(native, hierarchies).begin(
    workload(victim.path.slice(1), { path: victim.path, startOrder: statSync(victim.dir, { bigint: true }).ino }),
  );
/** What the monitor does; the test's time limit is the limit. */
const endsIt = async () => {
  const kill = evict();
  await eventually('it to end', () => {
    expect(kill.kill().error).toBeUndefined();
    return kill.read().processes === 0;
  });
  kill.close();
};

describe.runIf(hasFreezer)('a victim that another program froze (docker pause on v1)', () => {
  test('ends, because it is thawed after the signal', async () => {
    const beside = besideVictim('freezer', victim);
    const { pid, ended } = await victim.spawn('sleep', ['600']);
    beside.add(pid);
    beside.write('freezer.state', 'FROZEN');
    await eventually('it to be frozen', () => beside.read('freezer.state') === 'FROZEN\n');
    await endsIt();
    expect(await ended).toBe('SIGKILL');
    beside.cleanup();
  });

  /** A cgroup below `above`, frozen with its processes. */
  const frozenBelow = async (above: Beside, name: string, pid: number): Promise<string> => {
    mkdirSync(`${above.dir}/${name}`);
    above.write(`${name}/cgroup.procs`, String(pid));
    above.write(`${name}/freezer.state`, 'FROZEN');
    await eventually('it to be frozen', () => above.read(`${name}/freezer.state`) === 'FROZEN\n');
    return `${above.dir}/${name}`;
  };
  const removed = (directory: string) => eventually('it to be removed', () => attempt(() => (rmdirSync(directory), true)));

  test('ends if only cgroups below it were frozen', async () => {
    const beside = besideVictim('freezer', victim);
    const [running, ...paused] = await Promise.all(['running', 'a', 'b'].map(() => victim.spawn('sleep', ['600'])));
    beside.add(running?.pid ?? 0);
    const inner = await Promise.all(paused.map(({ pid }, index) => frozenBelow(beside, `paused${String(index)}`, pid)));
    await endsIt();
    expect(await Promise.all(paused.map(({ ended }) => ended))).toEqual(['SIGKILL', 'SIGKILL']);
    expect(await running?.ended).toBe('SIGKILL');
    for (const directory of inner) await removed(directory);
    beside.cleanup();
  });

  test('ends if a cgroup above the one that its processes share was frozen', async () => {
    const beside = besideVictim('freezer', victim);
    const { pid, ended } = await victim.spawn('sleep', ['600']);
    mkdirSync(`${beside.dir}/inner`);
    beside.write('inner/cgroup.procs', String(pid));
    beside.write('freezer.state', 'FROZEN');
    await eventually('it to be frozen', () => beside.read('inner/freezer.state') === 'FROZEN\n');
    await endsIt();
    expect(await ended).toBe('SIGKILL');
    await removed(`${beside.dir}/inner`);
    beside.cleanup();
  });

  test('ends if its processes share no cgroup of their own, and its neighbour stays frozen', async () => {
    const beside = besideVictim('freezer', victim);
    const members = [await victim.spawn('sleep', ['600']), await victim.spawn('sleep', ['600'])];
    const other = await bystander.spawn('sleep', ['600']);
    const parts = await Promise.all(members.map(({ pid }, index) => frozenBelow(beside, `.part${String(index)}`, pid)));
    const theirs = await frozenBelow(beside, 'other', other.pid);
    await endsIt();
    expect(await Promise.all(members.map(({ ended }) => ended))).toEqual(['SIGKILL', 'SIGKILL']);
    expect(beside.read('other/freezer.state')).toBe('FROZEN\n');
    beside.write('other/freezer.state', 'THAWED');
    expect(bystander.read('cgroup.procs').trim()).toBe(String(other.pid));
    await bystander.cleanup();
    for (const directory of [...parts, theirs]) await removed(directory);
    beside.cleanup();
  });

  test('ends, and another workload in the same freezer stays frozen and alive', async () => {
    const beside = besideVictim('freezer', victim);
    const { pid } = await victim.spawn('sleep', ['600']);
    const other = await bystander.spawn('sleep', ['600']);
    for (const member of [pid, other.pid]) beside.add(member);
    beside.write('freezer.state', 'FROZEN');
    const kill = evict();
    const until = Date.now() + 300;
    await eventually('some time to pass', () => {
      kill.kill();
      return Date.now() > until;
    });
    expect(beside.read('freezer.state')).toBe('FROZEN\n');
    expect(kill.read().processes).toBe(1);
    kill.close();
    beside.write('freezer.state', 'THAWED');
    await victim.cleanup();
    expect(bystander.read('cgroup.procs').trim()).toBe(String(other.pid));
    await bystander.cleanup();
    await eventually('it to be empty', () => beside.processes().length === 0);
    beside.cleanup();
  });
});

describe.runIf(hasUnified)('a victim that another program froze in the unified hierarchy', () => {
  test('ends, with the frozen cgroups below it', async () => {
    const beside = besideVictim('unified', victim);
    const inner = `${beside.dir}/paused`;
    const { pid, ended } = await victim.spawn('sleep', ['600']);
    mkdirSync(inner);
    beside.write('paused/cgroup.procs', String(pid));
    beside.write('paused/cgroup.freeze', '1');
    await eventually('it to be frozen', () => beside.read('paused/cgroup.events').includes('frozen 1'));
    await endsIt();
    expect(await ended).toBe('SIGKILL');
    await eventually('it to be removed', () => attempt(() => (rmdirSync(inner), true)));
    beside.cleanup();
  });
});

test.runIf(hierarchies.memory?.version === 2)('a victim that another program froze (v2) ends, with frozen cgroups below it', async () => {
  const inner = victim.child('inner');
  const { ended } = await inner.spawn('sleep', ['600']);
  for (const cgroup of [inner, victim]) {
    cgroup.write('cgroup.freeze', '1');
    await eventually('it to be frozen', () => cgroup.read('cgroup.events').includes('frozen 1'));
  }
  await endsIt();
  expect(await ended).toBe('SIGKILL');
});

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
