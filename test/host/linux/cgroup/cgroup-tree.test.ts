import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { cgroupTree } from '../../../../src/host/linux/cgroup/cgroup-tree.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
  for (const path of ['a/b', 'a/c', 'd']) mkdirSync(join(directory, path), { recursive: true });
});

test('each cgroup is found once, a parent before its children', () => {
  const tree = (cgroupTree(directory) ?? []).map((cgroup) => [relative(directory, cgroup.directory), cgroup.isLeaf]);
  expect(tree).toHaveLength(5);
  expect(Object.fromEntries(tree)).toEqual({ '': false, a: false, 'a/b': true, 'a/c': true, d: true });
  expect(tree.findIndex(([path]) => path === 'a')).toBeLessThan(tree.findIndex(([path]) => path === 'a/b'));
});

test('the walk of a tree that is too large ends early', () => {
  expect(cgroupTree(directory, 5)).toHaveLength(5);
  expect(cgroupTree(directory, 4)).toBeUndefined();
});

test('a cgroup that does not exist has no tree', () => {
  expect(cgroupTree(join(directory, 'gone'))).toEqual([]);
});
