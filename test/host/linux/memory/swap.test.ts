import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import type { KernelSource, Missing } from '../../../../src/host/linux/sampling/kernel-source.js';
import type { LevelReading } from '../../../../src/host/linux/sampling/level.js';
import { kernelAvailable, swapAvailable } from '../../../../src/host/linux/memory/swap.js';

const V2: CgroupHierarchy = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' };
const NONE = Number.NaN;

function read<T>(source: KernelSource<T>, values: readonly number[], errors: readonly number[] = []): T {
  return source.read(Float64Array.from(values), Int32Array.from(source.files.map((_, index) => errors[index] ?? 0)));
}

test.each<[rule: string, total: number, free: number, result: object]>([
  ['free swap is available', 8e9, 3e9, { available: 3_000_000_000n, capacity: 8_000_000_000n }],
  ['a machine without swap has no shortage, because the signal is absent', 0, 0, { missing: 'this machine has no swap', absent: true }],
  [
    'there is more free swap than swap',
    8e9,
    8e9 + 1,
    { missing: '/proc/meminfo mixes two machines (lxcfs?): SwapFree is more than SwapTotal' },
  ],
  ['no swap is free', 8e9, 0, { available: 0n, capacity: 8_000_000_000n }],
])('the available swap of the machine: %s', (_rule, total, free, result) => {
  expect(amountOf(read(swapAvailable(undefined), [total, free]))).toEqual(result);
});

const V1_MAX = 9223372036854771712;

/** Values: SwapTotal, SwapFree, and of /a and /: swap, memory limit, limit of memory and swap. */
test.each<[rule: string, values: readonly number[], result: object]>([
  ['its own limit', [8e9, 7e9, 1e9, 2e9, 5e9, 1e9, V1_MAX, V1_MAX], { available: 2_000_000_000n, capacity: 3_000_000_000n }],
  [
    'the limit of an ancestor, most of which others use',
    [8e9, 3e9, 1e9, 2e9, 5e9, 4e9, 4e9, 8.1e9],
    { available: 100_000_000n, capacity: 4_100_000_000n },
  ],
  ['no limit', [8e9, 3e9, 1e9, V1_MAX, V1_MAX, 1e9, V1_MAX, V1_MAX], { available: 3_000_000_000n, capacity: 8_000_000_000n }],
  ['a limit of memory alone', [8e9, 3e9, 1e9, 2e9, V1_MAX, 1e9, V1_MAX, V1_MAX], { available: 3_000_000_000n, capacity: 8_000_000_000n }],
  ['the limit is not above that of memory', [8e9, 8e9, 0, 2e9, 2e9, 0, V1_MAX, V1_MAX], { missing: '/a may not use swap', absent: true }],
  ['no swap accounting', [8e9, 3e9, NONE, 2e9, NONE, NONE, V1_MAX, NONE], { available: 3_000_000_000n, capacity: 8_000_000_000n }],
])('the available swap of a v1 cgroup: %s', (_rule, values, result) => {
  const hierarchy: CgroupHierarchy = { version: 1, controller: 'memory', mountPoint: '/sys/fs/cgroup/memory', root: '/' };
  expect(amountOf(read(swapAvailable({ hierarchy, path: '/a' }), values))).toEqual(result);
});

test('in a container the limit of its root counts, or the swap of the machine where the root does not count swap', () => {
  const container = swapAvailable({ hierarchy: V2, path: '/' });
  const ENOENT = 2;
  expect(amountOf(read(container, [8e9, 7e9, 1e9, 3e9]))).toEqual({ available: 2_000_000_000n, capacity: 3_000_000_000n });
  expect(read(container, [8e9, 8e9, 0, 0])).toEqual({ missing: '/ may not use swap', absent: true });
  expect(amountOf(read(container, [8e9, 7e9, NONE, NONE], [0, ENOENT, ENOENT]))).toEqual({
    available: 7_000_000_000n,
    capacity: 8_000_000_000n,
  });
});

/** Values: SwapTotal, SwapFree, current and max of /a/b, /a, /. */
test.each<[rule: string, values: readonly number[], result: object]>([
  ['its own limit', [8e9, 7e9, 1e9, 2e9, 1e9, Infinity, NONE, NONE], { available: 1_000_000_000n, capacity: 2_000_000_000n }],
  [
    'a limit above it, of which others use most',
    [8e9, 5e9, 1e9, Infinity, 2.5e9, 3e9, NONE, NONE],
    { available: 500_000_000n, capacity: 3_000_000_000n },
  ],
  [
    'no limit, so that of the machine',
    [8e9, 5e9, 1e9, Infinity, 1e9, Infinity, NONE, NONE],
    { available: 5_000_000_000n, capacity: 8_000_000_000n },
  ],
  [
    'others have used the swap of the machine',
    [8e9, 5e8, 1e9, 4e9, 1e9, Infinity, NONE, NONE],
    { available: 500_000_000n, capacity: 8_000_000_000n },
  ],
  ['a limit below its usage', [8e9, 5e9, 3e9, 2e9, 3e9, Infinity, NONE, NONE], { available: 0n, capacity: 2_000_000_000n }],
  [
    'a limit of all there is, and more',
    [8e9, 5e9, 1e9, 9e9, 1e9, 8e9, NONE, NONE],
    { available: 5_000_000_000n, capacity: 8_000_000_000n },
  ],
  ['a limit of 0', [8e9, 8e9, 0, 0, 0, Infinity, NONE, NONE], { missing: '/a/b may not use swap', absent: true }],
  ['a limit of 0 above it', [8e9, 8e9, 0, Infinity, 0, 0, NONE, NONE], { missing: '/a may not use swap', absent: true }],
  ['a machine without swap', [0, 0, 0, Infinity, 0, 0, NONE, NONE], { missing: 'this machine has no swap', absent: true }],
])('the available swap of a v2 cgroup: %s', (_rule, values, result) => {
  expect(amountOf(read(swapAvailable({ hierarchy: V2, path: '/a/b' }), values))).toEqual(result);
});

test('every level that may fill up is listed with its file, including the machine', () => {
  const reading = read(swapAvailable({ hierarchy: V2, path: '/a/b' }), [8e9, 5e9, 1e9, 2e9, 2e9, 3e9, NONE, NONE]);
  const levels = 'levels' in reading ? reading.levels : [];
  expect(levels.map(({ available, used }) => [available, used.files.map(({ path }) => path), used.weights])).toEqual([
    [5_000_000_000n, ['/proc/meminfo'], [1, -1]],
    [1_000_000_000n, ['/sys/fs/cgroup/a/b/memory.swap.current'], [1]],
    [1_000_000_000n, ['/sys/fs/cgroup/a/memory.swap.current'], [1]],
  ]);
});

test('a removed cgroup is missing, not absent', () => {
  expect(read(swapAvailable({ hierarchy: V2, path: '/a' }), [8e9, 8e9, NONE, NONE, NONE, NONE], [0, 2])).toEqual({
    missing: expect.stringMatching(/memory\.swap\.current/) as string,
  });
});

test('the estimate of the kernel is read', () => {
  expect(amountOf(read(kernelAvailable(false), [8e9, 5e9]))).toEqual({ available: 5_000_000_000n, capacity: 8_000_000_000n });
});

function amountOf(reading: LevelReading | Missing): object {
  if ('missing' in reading) return reading;
  const { available, capacity } = reading.narrowest;
  return { available, capacity };
}
