import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { membership, pathBelowMount } from '../../../../src/core/workload/cgroup.js';
import { findHierarchies, readHierarchies } from '../../../../src/host/linux/cgroup/hierarchies.js';
import { parseMountinfo, type Mount } from '../../../../src/host/linux/disk/mountinfo.js';
import { memoryController } from '../../../support/cgroup.js';

const fixture = (name: string): string => readFileSync(new URL(`../../../fixtures/linux/${name}`, import.meta.url), 'utf8');
const all = ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids', 'rdma', 'misc'];

test.each<[rule: string, fixture: string, unified: readonly string[], memory: string | undefined, pids: string | undefined]>([
  ['v2 offers both', 'v2', all, 'v2 /sys/fs/cgroup /', 'v2 /sys/fs/cgroup /'],
  ['v2 without the memory controller (cgroup_disable=memory)', 'v2', ['cpu', 'pids'], undefined, 'v2 /sys/fs/cgroup /'],
  ['v1', 'v1', [], 'v1 /sys/fs/cgroup/memory /', 'v1 /sys/fs/cgroup/pids /'],
  ['hybrid: the cgroup2 mount has no controllers', 'hybrid', [], 'v1 /sys/fs/cgroup/memory /', 'v1 /sys/fs/cgroup/pids /'],
  ['v1 and an empty cgroup2 mount, without systemd', 'v1-unified', [], 'v1 /sys/fs/cgroup/memory /', 'v1 /sys/fs/cgroup/pids /'],
  ['v2 from inside a cgroup namespace', 'v2-namespace', all, 'v2 /sys/fs/cgroup /../..', 'v2 /sys/fs/cgroup /../..'],
  ['hybrid from inside a cgroup namespace', 'hybrid-namespace', [], 'v1 /sys/fs/cgroup/memory /../..', 'v1 /sys/fs/cgroup/pids /../..'],
])('%s', (_rule, name, unified, memory, pids) => {
  const found = findHierarchies(parseMountinfo(fixture(`${name}.mountinfo`)), () => unified);
  const text = (h: typeof found.memory) => h && `v${String(h.version)} ${h.mountPoint} ${h.root}`;
  expect([text(found.memory), text(found.pids)]).toEqual([memory, pids]);
});

test.each<[rule: string, fixture: string, expected: string | undefined]>([
  ['v2', 'v2', '/system.slice/evictd.service'],
  ['v1', 'v1', '/system.slice/evictd.service'],
  ['hybrid', 'hybrid', '/system.slice/evictd.service'],
  ["the mount of the host seen from a cgroup namespace does not show evictd's cgroup", 'v2-namespace', undefined],
  ["the mount of a hybrid host seen from a cgroup namespace does not show evictd's cgroup", 'hybrid-namespace', undefined],
])('the cgroup of a process: %s', (_rule, name, expected) => {
  const { memory } = findHierarchies(parseMountinfo(fixture(`${name}.mountinfo`)), () => all);
  const path = memory && membership(fixture(`${name}.cgroup`), memory);
  expect(memory && path && pathBelowMount(path, memory)).toBe(expected);
});

test.each<[rule: string, fixture: string, freezer: string | undefined, unified: string | undefined]>([
  ['v1 has its freezer, and no unified hierarchy', 'v1', '/sys/fs/cgroup/freezer', undefined],
  ['hybrid: both, whatever controllers the cgroup2 mount has', 'hybrid', '/sys/fs/cgroup/freezer', '/sys/fs/cgroup/unified'],
  ['v2 has no separate freezer', 'v2', undefined, '/sys/fs/cgroup'],
])('the hierarchies to end and freeze processes: %s', (_rule, name, freezer, unified) => {
  const found = findHierarchies(parseMountinfo(fixture(`${name}.mountinfo`)), () => []);
  expect([found.freezer?.mountPoint, found.unified?.mountPoint]).toEqual([freezer, unified]);
});

const mount = (mountPoint: string, root = '/'): Mount => ({ device: 31n, type: 'cgroup2', mountPoint, root, options: ['rw'] });

test.each<[rule: string, mounts: Mount[], expected: string]>([
  [
    'a container’s own mount and the host’s: the host’s shows more',
    [mount('/sys/fs/cgroup'), mount('/host/cgroup', '/../..')],
    '/host/cgroup',
  ],
  ['the whole tree before a part of it', [mount('/part', '/docker/4f1'), mount('/sys/fs/cgroup')], '/sys/fs/cgroup'],
  ['the last of equal mounts is used, because it hides the first', [mount('/a'), mount('/b')], '/b'],
  ['a mount that another mount hides is not used', [mount('/a'), mount('/b', '/part'), mount('/a', '/part/inner')], '/b'],
])('one of several mounts: %s', (_rule, mounts, expected) => {
  expect(findHierarchies(mounts, () => all).memory?.mountPoint).toBe(expected);
});

test.each<[rule: string, line: string, expected: Mount[]]>([
  [
    'escaped space and backslash, optional fields',
    '36 31 0:31 / /mnt/a\\040b\\134c rw,nosuid shared:1 master:2 - cgroup none rw,memory',
    [{ device: 31n, root: '/', mountPoint: '/mnt/a b\\c', type: 'cgroup', options: ['rw', 'memory'] }],
  ],
  ['a line cut off', '36 31 0:31 / /mnt rw', []],
  ['an empty text', '', []],
])('mountinfo is parsed: %s', (_rule, line, expected) => {
  expect(parseMountinfo(line)).toEqual(expected);
});

test('the hierarchy with the memory controller is found on this machine', () => {
  const { memory } = readHierarchies();
  expect(memory && { version: memory.version, mount: memory.mountPoint }).toEqual(memoryController());
});
