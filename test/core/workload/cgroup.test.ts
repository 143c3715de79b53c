import { describe, expect, test } from 'vitest';
import {
  cgroupDirectory,
  isBelow,
  membership,
  normalCgroupPath,
  pathBelowMount,
  withAncestors,
  type CgroupHierarchy,
} from '../../../src/core/workload/cgroup.js';

const v1: CgroupHierarchy = { version: 1, controller: 'memory', mountPoint: '/sys/fs/cgroup/memory', root: '/' };
const v2: CgroupHierarchy = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' };
const rooted = (root: string): CgroupHierarchy => ({ ...v2, root });

test.each([
  ['a path', '/a/b', '/sys/fs/cgroup/memory/a/b'],
  ['the root is the mount point', '/', '/sys/fs/cgroup/memory'],
])('the directory of a cgroup path: %s', (_rule, path, directory) => {
  expect(cgroupDirectory(v1, path)).toBe(directory);
});

test.each([
  ['trailing slash', '/a/b/', '/a/b'],
  ['the path has no leading slash', 'a', '/a'],
  ['doubled slashes', '//a//b', '/a/b'],
  ['nothing', '', '/'],
])('the normal form of a path: %s', (_rule, path, expected) => {
  expect(normalCgroupPath(path)).toBe(expected);
});

test.each([
  ['a child', '/a/b', '/a', true],
  ['a grandchild', '/a/b/c', '/a', true],
  ['itself', '/a', '/a', false],
  ['a name that begins alike', '/ab', '/a', false],
  ['everything is below the root', '/a', '/', true],
  ['the root is not below itself', '/', '/', false],
])('a path below another: %s', (_rule, path, ancestor, expected) => {
  expect(isBelow(path, ancestor)).toBe(expected);
});

test('ancestors are listed from the nearest to the mount point', () => {
  expect(withAncestors('/a/b')).toEqual(['/a/b', '/a', '/']);
  expect(withAncestors('/')).toEqual(['/']);
});

describe('the cgroup in /proc/PID/cgroup', () => {
  const procCgroup = '12:cpu,cpuacct:/x\n9:name=systemd:/s\n5:pids:/a\u2028b\rc\n4:memory:/a/b:c\n0::/u/v\n';
  test.each<[rule: string, hierarchy: CgroupHierarchy, expected: string | undefined]>([
    ['v1 by controller; a path may hold colons', v1, '/a/b:c'],
    ['one of two controllers of a line', { ...v1, controller: 'cpuacct' }, '/x'],
    ['v2 is the line without a controller', v2, '/u/v'],
    ['line ends of Unicode are a part of a name', { ...v1, controller: 'pids' }, '/a\u2028b\rc'],
    ['a controller that is not mounted', { ...v1, controller: 'freezer' }, undefined],
  ])('%s', (_rule, hierarchy, expected) => {
    expect(membership(procCgroup, hierarchy)).toBe(expected);
  });
});

describe('a path below the mount', () => {
  test.each<[rule: string, root: string, kernelPath: string, expected: string | undefined]>([
    ['the whole tree is mounted', '/', '/a/b', '/a/b'],
    ['a subtree is mounted (container without a cgroup namespace)', '/docker/4f1', '/docker/4f1/job', '/job'],
    ['the root of the subtree', '/docker/4f1', '/docker/4f1', '/'],
    ['outside the subtree', '/docker/4f1', '/system.slice', undefined],
    ['a name that begins alike', '/docker/4f1', '/docker/4f12', undefined],
    ['above the cgroup namespace, mount at the namespace', '/', '/../other', undefined],
    ['mount two above the namespace: the names between are hidden', '/../..', '/job', undefined],
    ['mount two above the namespace: a sibling seen from there', '/../..', '/../../other/x', '/other/x'],
    ['higher than the mount', '/../..', '/../../..', undefined],
  ])('%s', (_rule, root, kernelPath, expected) => {
    expect(pathBelowMount(kernelPath, rooted(root))).toBe(expected);
  });
});
