import { mkdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import { allocatableMemory, cgroupMemory, limitNow, v1RootMemory } from '../../../../src/host/linux/memory/cgroup-memory.js';
import { availableOf, lowWatermark, type MemoryReading } from '../../../../src/host/linux/memory/memory.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { readPlayed as read } from './played-files.js';

const v1: CgroupHierarchy = { version: 1, controller: 'memory', mountPoint: '/sys/fs/cgroup/memory', root: '/' };
const v2: CgroupHierarchy = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' };

const meminfo = { '/proc/meminfo': { MemTotal: 1e9 } };
const node = (limits: Record<string, number>) => ({
  ...meminfo,
  '/sys/fs/cgroup/a/b/memory.current': 300e6,
  '/sys/fs/cgroup/a/b/memory.stat': { inactive_file: 100e6, anon: 150e6, file: 120e6 },
  ...limits,
});

test.each<[rule: string, limits: Record<string, number>, capacity: bigint]>([
  ['its own limit is used', { '/sys/fs/cgroup/a/b/memory.max': 400e6, '/sys/fs/cgroup/a/memory.max': 500e6 }, 400_000_000n],
  [
    'the limit of the cgroup above is smaller',
    { '/sys/fs/cgroup/a/b/memory.max': 400e6, '/sys/fs/cgroup/a/memory.max': 350e6 },
    350_000_000n,
  ],
  [
    "no cgroup has a limit, and the machine's memory is used",
    { '/sys/fs/cgroup/a/b/memory.max': Infinity, '/sys/fs/cgroup/a/memory.max': Infinity },
    1_000_000_000n,
  ],
  ['a limit beyond the machine', { '/sys/fs/cgroup/a/b/memory.max': 2e9 }, 1_000_000_000n],
  ['limits that cannot be read do not narrow it', {}, 1_000_000_000n],
])('the capacity of a cgroup: %s', (_rule, limits, capacity) => {
  expect(read(cgroupMemory(v2, '/a/b', false), node(limits))).toEqual({
    capacity,
    usage: 300_000_000n,
    reclaimable: 100_000_000n,
    pages: 270_000_000n,
  });
});

test('v1 counts the inactive file pages of all cgroups below, and has a number for no limit', () => {
  const reading = read(cgroupMemory(v1, '/a', false), {
    ...meminfo,
    '/sys/fs/cgroup/memory/a/memory.usage_in_bytes': 300e6,
    '/sys/fs/cgroup/memory/a/memory.stat': {
      total_inactive_file: 50e6,
      inactive_file: 1,
      total_rss: 2e6,
      total_cache: 60e6,
      rss: 1,
      cache: 1,
      hierarchical_memory_limit: 9223372036854771712,
    },
  });
  expect(reading).toEqual({ capacity: 1_000_000_000n, usage: 300_000_000n, reclaimable: 50_000_000n, pages: 62_000_000n });
});

test('a limit of a v1 cgroup above the mount counts', () => {
  const mountPoint = temporaryDirectory();
  const shown: CgroupHierarchy = { version: 1, controller: 'memory', mountPoint, root: '/above/container' };
  const statistics = { total_inactive_file: 50e6, total_rss: 2e6, total_cache: 60e6, hierarchical_memory_limit: 400e6 };
  writeFileSync(join(mountPoint, 'memory.limit_in_bytes'), '9223372036854771712\n');
  writeFileSync(join(mountPoint, 'memory.stat'), 'cache 1\nhierarchical_memory_limit 400000000\nhierarchical_memsw_limit 500000000\n');
  expect(limitNow(shown, '/')).toBe(400e6);
  const files = {
    ...meminfo,
    [`${mountPoint}/memory.usage_in_bytes`]: 300e6,
    [`${mountPoint}/memory.limit_in_bytes`]: 9223372036854771712,
    [`${mountPoint}/memory.stat`]: statistics,
  };
  expect(read(cgroupMemory(shown, '/', false), files)).toMatchObject({ capacity: 400_000_000n, usage: 300_000_000n });
});

test('the present limit of a v2 cgroup is the smallest below the mount', () => {
  const mountPoint = temporaryDirectory();
  mkdirSync(join(mountPoint, 'a'));
  writeFileSync(join(mountPoint, 'memory.max'), 'max\n');
  const shown: CgroupHierarchy = { version: 2, controller: '', mountPoint, root: '/' };
  expect(limitNow(shown, '/a')).toBe(Infinity);
  writeFileSync(join(mountPoint, 'memory.max'), '1048576\n');
  expect(limitNow(shown, '/a')).toBe(1_048_576);
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
])('the capacity of allocatable memory is the configured one, whatever the limits (%s)', (_rule, hierarchy, files) => {
  expect(read(allocatableMemory(hierarchy, '/a', 1000n, false), files)).toEqual({
    capacity: 1000n,
    usage: 300n,
    reclaimable: 50n,
    pages: 130n,
  });
});

test.each([1000n, undefined])('allocatable memory (capacity %s) of a cgroup that does not exist is missing', (capacity) => {
  expect(read(allocatableMemory(v2, '/a', capacity, false), meminfo)).toEqual({ missing: '/a does not exist', absent: true });
});

test('without a capacity allocatable memory has the smallest limit of its cgroup and those above, as it is now, or that of the machine', () => {
  const memory = allocatableMemory(v2, '/a', undefined, false);
  const used = {
    ...{ ...meminfo, '/sys/fs/cgroup/a/memory.current': 300e6 },
    '/sys/fs/cgroup/a/memory.stat': { inactive_file: 50e6, anon: 60e6, file: 70e6 },
  };
  const capacityWith = (limit: object) => (read(memory, { ...used, ...limit }) as MemoryReading).capacity;
  expect(capacityWith({ '/sys/fs/cgroup/a/memory.max': 400e6 })).toBe(400_000_000n);
  expect(capacityWith({ '/sys/fs/cgroup/a/memory.max': 500e6 })).toBe(500_000_000n);
  expect(capacityWith({})).toBe(1_000_000_000n);
});

test('the reason for a missing reading names the file', () => {
  expect(read(cgroupMemory(v2, '/a', false), meminfo)).toEqual({
    missing: '/sys/fs/cgroup/a/memory.current: ENOENT (no such file or directory)',
  });
});

test.each<[rule: string, reading: MemoryReading, available: bigint]>([
  [
    'there are more inactive pages than usage, because they were read at different times',
    { capacity: 10n, usage: 3n, reclaimable: 4n },
    10n,
  ],
  ['more memory is used than the capacity', { capacity: 10n, usage: 30n, reclaimable: 4n }, 0n],
])('available memory is at least 0: %s', (_rule, reading, available) => {
  expect(availableOf(reading)).toBe(available);
});

describe('reclaimable-cache', () => {
  const MiB = 1024 * 1024;
  /** Of the low watermark of a machine of 320 MiB: 4 × sqrt(320 × 1024) = 2289 KiB, and a quarter more. */
  const KEPT = 2289 * 1024 * 1.25;

  interface Pages {
    readonly inactive: number;
    readonly active: number;
    readonly slab?: number;
  }
  const ofV1 = ({ inactive, active }: Pages) => ({
    total_rss: 60 * MiB,
    total_cache: 200 * MiB,
    total_inactive_file: inactive * MiB,
    total_active_file: active * MiB,
  });
  const ofV2 = ({ inactive, active, slab = 0 }: Pages) => ({
    anon: 60 * MiB,
    file: 200 * MiB,
    inactive_file: inactive * MiB,
    active_file: active * MiB,
    slab_reclaimable: slab * MiB,
  });
  const reclaimable = (version: 1 | 2, pages: Pages): number => {
    const [hierarchy, usage, stat] = version === 1 ? [v1, 'memory.usage_in_bytes', ofV1(pages)] : [v2, 'memory.current', ofV2(pages)];
    const directory = `${hierarchy.mountPoint}/a`;
    const source = allocatableMemory(hierarchy, '/a', BigInt(320 * MiB), true);
    const reading = read(source, { [`${directory}/${usage}`]: 300 * MiB, [`${directory}/memory.stat`]: stat });
    if ('missing' in reading) throw new Error(reading.missing);
    expect([reading.usage, reading.pages]).toEqual([BigInt(300 * MiB), BigInt(260 * MiB)]);
    return Number(reading.reclaimable);
  };

  test.each<[rule: string, pages: Pages, expected: number]>([
    ['inactive page cache counts whole, as on a kubelet', { inactive: 170, active: 0 }, 170 * MiB],
    ['active page cache counts but for the low watermark', { inactive: 0, active: 170 }, 170 * MiB - KEPT],
    ['half of a small active page cache counts', { inactive: 0, active: 4 }, 2 * MiB],
    ['inactive and active page cache count together', { inactive: 100, active: 60 }, 160 * MiB - KEPT],
  ])('%s', (_rule, pages, expected) => {
    expect([reclaimable(1, pages), reclaimable(2, pages)]).toEqual([expected, expected]);
  });

  test('on v2 reclaimable slab counts in the same way, and v1 does not report it', () => {
    expect(reclaimable(2, { inactive: 10, active: 100, slab: 50 })).toBe(160 * MiB - 2 * KEPT);
    expect(reclaimable(2, { inactive: 10, active: 0, slab: 5 })).toBe(12.5 * MiB);
  });

  test('half of an odd number of slab bytes is rounded to a byte', () => {
    expect(reclaimable(2, { inactive: 0, active: 0, slab: 4097 / MiB })).toBe(2049);
  });

  test('the low watermark is that of the capacity at the start, here of the machine', () => {
    const source = cgroupMemory(v1, '/a', true);
    const directory = '/sys/fs/cgroup/memory/a';
    const total = totalmem();
    const reading = read(source, {
      '/proc/meminfo': { MemTotal: total },
      [`${directory}/memory.usage_in_bytes`]: 300 * MiB,
      [`${directory}/memory.stat`]: ofV1({ inactive: 0, active: total / MiB }),
    }) as MemoryReading;
    expect(Number(reading.reclaimable)).toBe(total - lowWatermark(total));
  });

  test('page cache in cgroups below with newer statistics counts the same', () => {
    const { statistics } = cgroupMemory(v1, '/a', true);
    expect(statistics?.keys).toEqual(['rss', 'cache', 'inactive_file', 'active_file']);
    expect(statistics?.reclaimableOf([1, 2, 40 * MiB, 4 * MiB])).toBe(BigInt(42 * MiB));
  });

  test('the root of v1 has no newer statistics, and its usage contains no kernel memory', () => {
    const { statistics, countsKernelMemory } = v1RootMemory(v1, true);
    expect([statistics, countsKernelMemory]).toEqual([undefined, undefined]);
  });
});

test('the low watermark is at least 128 KiB, at most 256 MiB, and a quarter more', () => {
  expect([0, 1024 ** 3, 2 ** 60].map(lowWatermark)).toEqual([160 * 1024, 5120 * 1024, 320 * 1024 ** 2]);
});
