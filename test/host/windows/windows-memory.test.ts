import { expect, test } from 'vitest';
import { commitAvailable, physicalAvailable } from '../../../src/host/windows/windows-memory.js';
import { makeSignalObservations } from '../../../src/kubernetes/summary.js';
import type { PerformanceInfo } from '../../../src/native/windows-binding.js';
import { performanceInfo } from './binding.js';

const page = 4096n;
const commit = (limit: bigint, total: bigint): PerformanceInfo => performanceInfo({ commitLimit: limit, commitTotal: total });

test.each<[rule: string, limit: bigint, total: bigint, available: bigint]>([
  ['limit − total, in bytes', 1000n, 600n, 400n * page],
  ['all of the memory is committed', 1000n, 1000n, 0n],
  ['a page file was made smaller: more is committed than the limit', 1000n, 1001n, 0n],
  ['exact beyond 2⁵³ bytes', 2n ** 45n + 1n, 0n, (2n ** 45n + 1n) * page],
])('memory.available: %s', (_rule, limit, total, available) => {
  expect(commitAvailable(commit(limit, total), 7n)).toEqual({
    available,
    capacity: limit * page,
    timeNs: 7n,
    source: 'CommitLimit − CommitTotal of GetPerformanceInfo',
  });
});

test('memory.available is the value of a kubelet on Windows for the same numbers', () => {
  const usageBytes = Number(600n * page);
  const memory = { availableBytes: Number(400n * page), usageBytes, workingSetBytes: 1 };
  const summary = { node: { systemContainers: [{ name: 'windows-global-commit-memory', memory }] } };
  const kubelets = makeSignalObservations(summary, 'windows').observed.get('memory.available');
  const { available, capacity } = commitAvailable(commit(1000n, 600n), 7n);
  expect(kubelets).toMatchObject({ available, capacity });
});

test.each<[rule: string, total: bigint, free: bigint, available: bigint]>([
  ['free, zeroed and standby pages', 1000n, 300n, 300n * page],
  ['no memory is free', 1000n, 0n, 0n],
])('memory.kernelAvailable: %s', (_rule, physicalTotal, free, available) => {
  const info = performanceInfo({ physicalTotal, physicalAvailable: free });
  expect(physicalAvailable(info, 7n)).toMatchObject({ available, capacity: physicalTotal * page });
});

test('the page size is that of the answer', () => {
  expect(commitAvailable(performanceInfo({ commitLimit: 3n, commitTotal: 1n, pageSize: 16384n }), 7n).available).toBe(32768n);
});
