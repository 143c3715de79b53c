import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import { fieldCount } from '../../../../src/host/linux/sampling/kernel-source.js';
import {
  allocatableMemory,
  availableOf,
  cgroupMemory,
  machineMemory,
  workingSetOf,
  type MemoryReading,
  type MemorySource,
} from '../../../../src/host/linux/memory/memory.js';

const v1: CgroupHierarchy = { version: 1, controller: 'memory', mountPoint: '/sys/fs/cgroup/memory', root: '/' };
const v2: CgroupHierarchy = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' };
const kB = 1024;

/** Reads a source from values given by file (and key). A file that is not named is missing: NaN and ENOENT. */
function read(
  source: MemorySource,
  files: Readonly<Record<string, number | Readonly<Record<string, number>>>>,
): ReturnType<MemorySource['read']> {
  const values = source.files.flatMap((file) => {
    const given = files[file.path];
    if (given === undefined) return new Array<number>(fieldCount(file)).fill(NaN);
    return file.format === 'keyed' && typeof given === 'object' ? file.keys.map((key) => given[key] ?? NaN) : [given as number];
  });
  return source.read(
    Float64Array.from(values),
    Int32Array.from(source.files, (file) => (files[file.path] === undefined ? 2 : 0)),
  );
}

test('the machine: anonymous + file pages − Inactive(file), as the root’s memory.stat has them (Linux 6.12, read at one time: 248233984)', () => {
  const reading = read(machineMemory(), {
    '/proc/meminfo': {
      MemTotal: 990300 * kB,
      Buffers: 3656 * kB,
      Cached: 133560 * kB,
      SwapCached: 0,
      'Inactive(file)': 108308 * kB,
      AnonPages: 213520 * kB,
    },
  }) as MemoryReading;
  expect(workingSetOf(reading)).toBe(248246272n);
  expect(availableOf(reading)).toBe(BigInt(990300 * kB) - 248246272n);
});

const meminfo = { '/proc/meminfo': { MemTotal: 1e9 } };
const node = (limits: Record<string, number>) => ({
  ...meminfo,
  '/sys/fs/cgroup/a/b/memory.current': 300e6,
  '/sys/fs/cgroup/a/b/memory.stat': { inactive_file: 100e6, anon: 150e6, file: 120e6 },
  ...limits,
});

test.each<[rule: string, limits: Record<string, number>, capacity: bigint]>([
  ['its own limit', { '/sys/fs/cgroup/a/b/memory.max': 400e6, '/sys/fs/cgroup/a/memory.max': 500e6 }, 400_000_000n],
  [
    'the limit of the cgroup above is smaller',
    { '/sys/fs/cgroup/a/b/memory.max': 400e6, '/sys/fs/cgroup/a/memory.max': 350e6 },
    350_000_000n,
  ],
  [
    'no limit anywhere: the machine',
    { '/sys/fs/cgroup/a/b/memory.max': Infinity, '/sys/fs/cgroup/a/memory.max': Infinity },
    1_000_000_000n,
  ],
  ['a limit beyond the machine', { '/sys/fs/cgroup/a/b/memory.max': 2e9 }, 1_000_000_000n],
  ['limits that cannot be read do not narrow it', {}, 1_000_000_000n],
])('capacity of a cgroup: %s', (_rule, limits, capacity) => {
  expect(read(cgroupMemory(v2, '/a/b'), node(limits))).toEqual({
    capacity,
    usage: 300_000_000n,
    inactiveFile: 100_000_000n,
    pages: 270_000_000n,
  });
});

test('v1 counts the inactive file pages of everything below, and its unlimited is a number', () => {
  const reading = read(cgroupMemory(v1, '/a'), {
    ...meminfo,
    '/sys/fs/cgroup/memory/a/memory.usage_in_bytes': 300e6,
    '/sys/fs/cgroup/memory/a/memory.stat': {
      total_inactive_file: 50e6,
      inactive_file: 1,
      total_rss: 2e6,
      total_cache: 60e6,
      rss: 1,
      cache: 1,
    },
    '/sys/fs/cgroup/memory/a/memory.limit_in_bytes': 9223372036854771712,
  });
  expect(reading).toEqual({ capacity: 1_000_000_000n, usage: 300_000_000n, inactiveFile: 50_000_000n, pages: 62_000_000n });
});

test.each<[rule: string, hierarchy: CgroupHierarchy, files: Record<string, number | Record<string, number>>]>([
  [
    'v1',
    v1,
    {
      '/sys/fs/cgroup/memory/a/memory.usage_in_bytes': 300,
      '/sys/fs/cgroup/memory/a/memory.stat': { total_inactive_file: 50, total_rss: 60, total_cache: 70 },
    },
  ],
  [
    'v2',
    v2,
    {
      '/sys/fs/cgroup/a/memory.current': 300,
      '/sys/fs/cgroup/a/memory.stat': { inactive_file: 50, anon: 60, file: 70 },
      '/sys/fs/cgroup/a/memory.max': 310,
    },
  ],
])('allocatable memory: the capacity is the configured one, whatever the limits (%s)', (_rule, hierarchy, files) => {
  expect(read(allocatableMemory(hierarchy, '/a', 1000n), files)).toEqual({ capacity: 1000n, usage: 300n, inactiveFile: 50n, pages: 130n });
});

test('allocatable memory of a cgroup that is not there', () => {
  expect(read(allocatableMemory(v2, '/a', 1000n), meminfo)).toEqual({ missing: '/a does not exist', absent: true });
});

test('what could not be read is named', () => {
  expect(read(cgroupMemory(v2, '/a'), meminfo)).toEqual({ missing: '/sys/fs/cgroup/a/memory.current: ENOENT (no such file or directory)' });
});

test.each<[rule: string, reading: MemoryReading, available: bigint]>([
  ['more inactive pages than usage, read at different moments', { capacity: 10n, usage: 3n, inactiveFile: 4n }, 10n],
  ['more used than there is: nothing is available', { capacity: 10n, usage: 30n, inactiveFile: 4n }, 0n],
])('floored at 0: %s', (_rule, reading, available) => {
  expect(availableOf(reading)).toBe(available);
});

test('the sampler’s sum is the working set', () => {
  const { workingSet } = machineMemory();
  expect(workingSet.files.flatMap((file) => (file.format === 'keyed' ? file.keys : []))).toHaveLength(workingSet.weights.length);
  expect(workingSet.weights).toEqual([1, 1, 1, 1, -1]);
});
