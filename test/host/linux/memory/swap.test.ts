import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import type { KernelSource, Missing } from '../../../../src/host/linux/sampling/kernel-source.js';
import type { LevelReading } from '../../../../src/host/linux/sampling/level.js';
import { cgroupSwap, kernelAvailable, machineSwap } from '../../../../src/host/linux/memory/swap.js';

const V2: CgroupHierarchy = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' };
const NONE = Number.NaN;

function read<T>(source: KernelSource<T>, values: readonly number[], errors: readonly number[] = []): T {
  return source.read(Float64Array.from(values), Int32Array.from(source.files.map((_, index) => errors[index] ?? 0)));
}

test.each<[rule: string, total: number, free: number, result: object]>([
  ['what is free', 8e9, 3e9, { available: 3_000_000_000n, capacity: 8_000_000_000n }],
  ['no swap at all is no shortage: the signal is absent', 0, 0, { missing: 'this machine has no swap', absent: true }],
  ['more free than there is', 8e9, 8e9 + 1, { missing: '/proc/meminfo mixes two machines (lxcfs?): SwapFree is more than SwapTotal' }],
  ['none left', 8e9, 0, { available: 0n, capacity: 8_000_000_000n }],
])('the machine’s swap: %s', (_rule, total, free, result) => {
  expect(amountOf(read(machineSwap(false), [total, free]))).toEqual(result);
});

test('a v1 cgroup’s swap source names the machine', () => {
  expect(read(machineSwap(true), [8e9, 3e9])).toMatchObject({ narrowest: { source: expect.stringMatching(/the machine's/) as string } });
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
    'no limit: the machine’s',
    [8e9, 5e9, 1e9, Infinity, 1e9, Infinity, NONE, NONE],
    { available: 5_000_000_000n, capacity: 8_000_000_000n },
  ],
  ['others have taken it', [8e9, 5e8, 1e9, 4e9, 1e9, Infinity, NONE, NONE], { available: 500_000_000n, capacity: 8_000_000_000n }],
  ['a limit below what it has', [8e9, 5e9, 3e9, 2e9, 3e9, Infinity, NONE, NONE], { available: 0n, capacity: 2_000_000_000n }],
  [
    'a limit of all there is, and more',
    [8e9, 5e9, 1e9, 9e9, 1e9, 8e9, NONE, NONE],
    { available: 5_000_000_000n, capacity: 8_000_000_000n },
  ],
  ['a limit of 0', [8e9, 8e9, 0, 0, 0, Infinity, NONE, NONE], { missing: '/a/b may not use swap', absent: true }],
  ['a limit of 0 above it', [8e9, 8e9, 0, Infinity, 0, 0, NONE, NONE], { missing: '/a may not use swap', absent: true }],
  ['a machine without swap', [0, 0, 0, Infinity, 0, 0, NONE, NONE], { missing: 'this machine has no swap', absent: true }],
])('the swap of a v2 cgroup: %s', (_rule, values, result) => {
  expect(amountOf(read(cgroupSwap(V2, '/a/b'), values))).toEqual(result);
});

test('every level that may fill up is listed with its file, the machine included', () => {
  const reading = read(cgroupSwap(V2, '/a/b'), [8e9, 5e9, 1e9, 2e9, 2e9, 3e9, NONE, NONE]);
  const levels = 'levels' in reading ? reading.levels : [];
  expect(levels.map(({ available, used }) => [available, used.files.map(({ path }) => path), used.weights])).toEqual([
    [5_000_000_000n, ['/proc/meminfo'], [1, -1]],
    [1_000_000_000n, ['/sys/fs/cgroup/a/b/memory.swap.current'], [1]],
    [1_000_000_000n, ['/sys/fs/cgroup/a/memory.swap.current'], [1]],
  ]);
});

test('a removed cgroup is missing, not absent', () => {
  expect(read(cgroupSwap(V2, '/a'), [8e9, 8e9, NONE, NONE, NONE, NONE], [0, 2])).toEqual({
    missing: expect.stringMatching(/memory\.swap\.current/) as string,
  });
});

test('the kernel’s own estimate', () => {
  expect(amountOf(read(kernelAvailable(false), [8e9, 5e9]))).toEqual({ available: 5_000_000_000n, capacity: 8_000_000_000n });
});

function amountOf(reading: LevelReading | Missing): object {
  if ('missing' in reading) return reading;
  const { available, capacity } = reading.narrowest;
  return { available, capacity };
}
