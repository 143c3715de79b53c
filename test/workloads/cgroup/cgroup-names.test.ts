import { chmodSync, chownSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { native } from '../../../src/native/index.js';
import { CgroupNames } from '../../../src/workloads/cgroup/cgroup-names.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';

const USER = 4242;
const hierarchy = memoryHierarchy();
let top: TestCgroup;

beforeEach(() => {
  top = testCgroup();
});
afterEach(() => top.cleanup());

describe('the user who may name a cgroup', () => {
  test.each<[rule: string, change: (middle: TestCgroup, leaf: TestCgroup) => void, isRoots: boolean]>([
    ['root, if all cgroups above belong to root', () => undefined, true],
    ['root, also if the cgroup itself is given away', (_, leaf) => chownSync(leaf.dir, USER, USER), true],
    ['the user who owns the cgroup above', ({ dir }) => chownSync(dir, USER, USER), false],
    ['other users, if they may write above', ({ dir }) => chmodSync(dir, 0o777), false],
    ['a group, if it may write above', ({ dir }) => chmodSync(dir, 0o775), false],
    ['the user who owns what is two above', () => chownSync(top.dir, USER, USER), false],
  ])('%s', (_rule, change, isRoots) => {
    const middle = top.child('middle');
    const leaf = middle.child('sshd.service');
    change(middle, leaf);
    expect(new CgroupNames(hierarchy).isNamedByRoot(leaf.path)).toBe(isRoots);
  });

  test('root, if the cgroup was removed meanwhile', () => {
    expect(new CgroupNames(hierarchy).isNamedByRoot(`${top.path}/gone/sshd.service`)).toBe(true);
  });
});

test.each([
  ['root', 0, 'unit'],
  ['a user', USER, undefined],
] as const)('the protection of a cgroup with the name of a protected unit, named by %s', async (_who, uid, protection) => {
  await top.child('sshd.service').spawn('sleep', ['600']);
  chownSync(top.dir, uid, uid);
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  const source = openWorkloads({ workloads: [{ cgroup: top.path }], rules: [] }, native, { identity, hierarchy });
  const [usage] = source.candidates().usages;
  source.close();
  expect(usage?.workload.protection?.kind).toBe(protection);
});
