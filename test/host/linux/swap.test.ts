import { expect, test } from 'vitest';
import type { CgroupHierarchy } from '../../../src/core/cgroup.js';
import type { KernelSource } from '../../../src/host/linux/kernel-source.js';
import { cgroupSwap, kernelAvailable, machineSwap } from '../../../src/host/linux/swap.js';

const V2: CgroupHierarchy = { version: 2, controller: '', mountPoint: '/sys/fs/cgroup', root: '/' };
const NONE = Number.NaN;

function read<T>(source: KernelSource<T>, values: readonly number[], errors: readonly number[] = []): T {
  return source.read(Float64Array.from(values), Int32Array.from(source.files.map((_, index) => errors[index] ?? 0)));
}

test.each<[rule: string, total: number, free: number, result: object]>([
  ['what is free', 8e9, 3e9, { available: 3_000_000_000n, capacity: 8_000_000_000n }],
  ['no swap at all is no shortage: the signal is absent', 0, 0, { missing: 'this machine has no swap', absent: true }],
  ['none left', 8e9, 0, { available: 0n, capacity: 8_000_000_000n }],
])('the machine’s swap: %s', (_rule, total, free, result) => {
  expect(read(machineSwap(false), [total, free])).toEqual(result);
});

test('the machine’s swap where a v1 cgroup is the node says whose it is', () => {
  expect(machineSwap(true).description).toMatch(/the machine's/);
});

/** Values: current, SwapTotal, SwapFree, max of /a/b, /a, /. */
test.each<[rule: string, values: readonly number[], result: object]>([
  ['its own limit', [1e9, 8e9, 7e9, 2e9, Infinity, NONE], { available: 1_000_000_000n, capacity: 2_000_000_000n }],
  ['a limit above it', [1e9, 8e9, 7e9, Infinity, 3e9, NONE], { available: 2_000_000_000n, capacity: 3_000_000_000n }],
  ['no limit: the machine’s', [1e9, 8e9, 5e9, Infinity, Infinity, NONE], { available: 5_000_000_000n, capacity: 8_000_000_000n }],
  ['others have taken it', [1e9, 8e9, 5e8, 4e9, Infinity, NONE], { available: 500_000_000n, capacity: 4_000_000_000n }],
  ['a limit below what it has', [3e9, 8e9, 5e9, 2e9, Infinity, NONE], { available: 0n, capacity: 2_000_000_000n }],
  ['a limit of 0', [0, 8e9, 8e9, 0, Infinity, NONE], { missing: '/a/b may not use swap', absent: true }],
  ['a machine without swap', [0, 0, 0, Infinity, Infinity, NONE], { missing: 'this machine has no swap', absent: true }],
])('the swap of a v2 cgroup: %s', (_rule, values, result) => {
  expect(read(cgroupSwap(V2, '/a/b'), values)).toEqual(result);
});

test('a cgroup that is gone is missing, not absent', () => {
  expect(read(cgroupSwap(V2, '/a'), [NONE, 8e9, 8e9, NONE, NONE], [2])).toEqual({
    missing: expect.stringMatching(/memory\.swap\.current/) as string,
  });
});

test('the kernel’s own estimate', () => {
  expect(read(kernelAvailable(false), [8e9, 5e9])).toEqual({ available: 5_000_000_000n, capacity: 8_000_000_000n });
});
