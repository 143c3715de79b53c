import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { belongs, openSharedCgroup } from '../../../src/evict/cgroup/shared-cgroup.js';
import { errnoName } from '../../../src/errors.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import { native } from '../../../src/native/index.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { withoutDescriptors } from '../../support/descriptors.js';
import { eventually } from '../../support/eventually.js';
import { besideVictim, hasFreezer, hasUnified, thawBesides, type Beside } from './beside.js';

// A v1 victim and a cgroup in another hierarchy: whether what is done to the one is done to the other.

const hierarchies = readHierarchies();
const others = [...(hasFreezer ? (['freezer'] as const) : []), ...(hasUnified ? (['unified'] as const) : [])];

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

/** On v2 alone there is none: skipped there, and not forgotten. */
const tried = others.length > 0 ? others : (['freezer'] as const);

describe.runIf(others.length > 0).each(tried)('a cgroup of the %s hierarchy', (name) => {
  let beside: Beside;
  beforeEach(() => {
    beside = besideVictim(name, victim);
  });
  afterEach(async () => {
    await victim.cleanup();
    await bystander.cleanup();
    await eventually('it to be empty', () => beside.processes().length === 0);
    beside.cleanup();
  });

  /** The inode of what is found; undefined: nothing is. */
  const found = (): bigint | undefined => {
    const { memory, [name]: other } = hierarchies;
    if (!memory || !other) throw new Error('they are not here');
    const handle = new native.CgroupHandle(victim.dir);
    const shared = openSharedCgroup(native, { handle, hierarchy: memory, path: victim.path }, other)?.handle;
    handle.close();
    const id = shared?.id;
    shared?.close();
    return id;
  };
  const inode = (dir: string): bigint => statSync(dir, { bigint: true }).ino;

  test('that has exactly the processes of the victim is found', async () => {
    const { pid } = await victim.spawn('sleep', ['600']);
    const inner = await victim.child('inner').spawn('sleep', ['600']);
    for (const member of [pid, inner.pid]) beside.add(member);
    expect(found()).toBe(inode(beside.dir));
  });

  test('that has another process is not found', async () => {
    const { pid } = await victim.spawn('sleep', ['600']);
    const other = await bystander.spawn('sleep', ['600']);
    for (const member of [pid, other.pid]) beside.add(member);
    expect(found()).toBeUndefined();
  });

  test('that has another process in a child whose name begins with a dot is not found', async () => {
    const { pid } = await victim.spawn('sleep', ['600']);
    const other = await bystander.spawn('sleep', ['600']);
    const hidden = `${beside.dir}/.hidden`;
    mkdirSync(hidden);
    try {
      beside.add(pid);
      beside.write('.hidden/cgroup.procs', String(other.pid));
      expect(found()).toBeUndefined();
    } finally {
      await bystander.cleanup();
      await eventually('it to be removed', () => attempt(() => (rmdirSync(hidden), true)));
    }
  });

  test('that has a part of the victim is not found, and the root never is', async () => {
    const inside = await victim.spawn('sleep', ['600']);
    await victim.spawn('sleep', ['600']);
    beside.add(inside.pid);
    expect(found()).toBeUndefined();
  });

  test('is not found for an empty victim', () => {
    expect(found()).toBeUndefined();
  });

  test('is found with few descriptors left (a fork bomb), and none is kept', async () => {
    const { memory, [name]: other } = hierarchies;
    if (!memory || !other) throw new Error('they are not here');
    const { pid } = await victim.spawn('sleep', ['600']);
    beside.add(pid);
    const held = { handle: new native.CgroupHandle(victim.dir), hierarchy: memory, path: victim.path };
    const spare = Array.from({ length: 8 }, () => openSync('/dev/null', 'r'));
    const before = readdirSync('/proc/self/fd').length;
    const results: string[] = [];
    await withoutDescriptors(() => {
      // With each round one more: it fails first at the victim, then at the other, and then at comparing the two.
      for (const descriptor of spare) {
        closeSync(descriptor);
        const shared = attempt(() => openSharedCgroup(native, held, other)?.handle);
        results.push(shared ? 'found' : 'nothing');
        shared?.close();
      }
    });
    expect(readdirSync('/proc/self/fd').length).toBe(before - spare.length);
    expect([results[0], results.at(-1)]).toEqual(['nothing', 'found']);
    held.handle.close();
  });

  test('that has another process is not found while the cgroup of that process cannot be read', async () => {
    const { memory, [name]: other } = hierarchies;
    if (!memory || !other) throw new Error('they are not here');
    const { pid } = await victim.spawn('sleep', ['600']);
    const { pid: foreign } = await bystander.spawn('sleep', ['600']);
    for (const member of [pid, foreign]) beside.add(member);
    const real = new native.CgroupHandle(victim.dir);
    const spare = Array.from({ length: 8 }, () => openSync('/dev/null', 'r'));
    const taken: number[] = [];
    let readings = 0;
    const processes = (): number[] => {
      const pids = real.processes();
      readings += 1;
      if (readings === 2) attempt(() => takeAll(taken)); // all that is left is to read the cgroup of the other process
      return pids;
    };
    const handle = Object.create(real, { processes: { value: processes } }) as typeof real;
    let result: string | undefined;
    await withoutDescriptors(() => {
      for (const descriptor of spare) closeSync(descriptor);
      try {
        const shared = openSharedCgroup(native, { handle, hierarchy: memory, path: victim.path }, other)?.handle;
        result = shared ? 'found' : 'nothing';
        shared?.close();
      } catch (error) {
        result = errnoName(error);
      }
      for (const descriptor of taken) closeSync(descriptor);
    });
    real.close();
    expect([readings, result]).toEqual([2, 'EMFILE']);
  });

  test('above the cgroups that the victim is spread over is found', async () => {
    const parts = ['a', 'b'].map((part) => `${beside.dir}/${part}`);
    for (const part of parts) mkdirSync(part);
    try {
      for (const part of parts) {
        const { pid } = await victim.spawn('sleep', ['600']);
        beside.write(`${part.slice(beside.dir.length + 1)}/cgroup.procs`, String(pid));
      }
      expect(found()).toBe(inode(beside.dir));
    } finally {
      await victim.cleanup();
      for (const part of parts) await eventually('it to be removed', () => attempt(() => (rmdirSync(part), true)));
    }
  });
});

test('a process is in a cgroup, in another one, or has ended; without descriptors it is unknown which', async () => {
  const hierarchy = hierarchies.memory;
  if (!hierarchy) throw new Error('no memory controller');
  const { pid } = await victim.spawn('sleep', ['600']);
  expect(belongs(pid, { hierarchy, path: victim.path })).toBe(true);
  expect(belongs(pid, { hierarchy, path: bystander.path })).toBe(false);
  let result: unknown;
  await withoutDescriptors(() => {
    try {
      result = belongs(pid, { hierarchy, path: bystander.path });
    } catch (error) {
      result = errnoName(error);
    }
  });
  expect(result).toBe('EMFILE');
  await victim.cleanup();
  await eventually('it to end', () => !existsSync(`/proc/${String(pid)}`));
  expect(belongs(pid, { hierarchy, path: bystander.path })).toBe(true);
});

function takeAll(taken: number[]): never {
  for (;;) taken.push(openSync('/dev/null', 'r'));
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
