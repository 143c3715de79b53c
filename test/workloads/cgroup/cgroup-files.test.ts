import { describe, expect, test } from 'vitest';
import { valueOf } from '../../../src/host/linux/sampling/file-sum.js';
import { cgroupFiles, workingSetOf, type CgroupSample } from '../../../src/workloads/cgroup/cgroup-files.js';

interface Numbers {
  readonly usage: number;
  readonly inactive: number;
  readonly active: number;
  readonly swap: number;
}
const KNOWN: Numbers = { usage: 100, inactive: 30, active: 50, swap: 7 };

/** As the table has them, behind those of another row. */
function sampled(version: 1 | 2, countsCache: boolean, numbers: Partial<Numbers> = {}): CgroupSample | undefined {
  const { usage, inactive, active, swap } = { ...KNOWN, ...numbers };
  const fields = version === 1 ? [usage, inactive, active, swap] : [usage, inactive, active, 10, 20, 1, swap];
  return cgroupFiles(version, countsCache).sample(Float64Array.of(NaN, ...fields), 1);
}

describe.each([1, 2] as const)('cgroup v%i', (version) => {
  test.each<[rule: string, countsCache: boolean, numbers: Partial<Numbers>, workingSet: bigint | undefined]>([
    ['as on a kubelet, active page cache is usage', true, {}, 70n],
    ['with reclaimable-cache it is none', false, {}, 20n],
    ['never below 0: the numbers are of two moments', false, { usage: 60 }, 0n],
    ['as on a kubelet it is not needed', true, { active: NaN }, 70n],
    ['else nothing is known without it', false, { active: NaN }, undefined],
    ['nothing is known without the usage', true, { usage: NaN }, undefined],
  ])('%s', (_rule, countsCache, numbers, workingSet) => {
    expect(sampled(version, countsCache, numbers)?.workingSetBytes).toBe(workingSet);
  });

  test.each([true, false])('the native layer compares the same number (active page cache is usage: %s)', (countsCache) => {
    const { files, weights } = workingSetOf('/cgroup', version, countsCache);
    expect(files.flatMap((file) => ('keys' in file ? file.keys : [file.path]))).toEqual(
      version === 1
        ? ['/cgroup/memory.usage_in_bytes', 'total_inactive_file', 'total_active_file']
        : ['/cgroup/memory.current', 'inactive_file', 'active_file'],
    );
    expect(BigInt(valueOf({ weights }, Float64Array.of(100, 30, 50)))).toBe(sampled(version, countsCache)?.workingSetBytes);
  });

  test('swap, where the kernel counts it', () => {
    expect(sampled(version, false)).toMatchObject({ usageBytes: 100n, swapBytes: 7n, guaranteedBytes: version === 1 ? undefined : 20n });
    expect(sampled(version, false, { swap: NaN })?.swapBytes).toBe(0n);
  });

  test('each field has its place', () => {
    const { specs } = cgroupFiles(version, false);
    const fields = specs.flatMap((spec) => ('keys' in spec ? spec.keys : [spec.path]));
    expect(fields).toEqual(
      version === 1
        ? ['memory.usage_in_bytes', 'total_inactive_file', 'total_active_file', 'total_swap']
        : ['memory.current', 'inactive_file', 'active_file', 'memory.low', 'memory.min', 'populated', 'memory.swap.current'],
    );
  });
});
