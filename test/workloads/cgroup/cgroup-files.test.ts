import { describe, expect, test } from 'vitest';
import { valueOf } from '../../../src/host/linux/sampling/file-sum.js';
import { cgroupFiles, workingSetOf, type CgroupSample } from '../../../src/workloads/cgroup/cgroup-files.js';

interface Numbers {
  readonly usage: number;
  readonly inactive: number;
  readonly active: number;
  readonly swap: number;
  /** Only v2 counts it. */
  readonly slab: number;
  readonly shared: number;
  readonly mapped: number;
}
const KNOWN: Numbers = { usage: 100, inactive: 30, active: 45, swap: 7, slab: 5, shared: 12, mapped: 4 };

/** As the table has them, behind those of another row. */
function sampled(version: 1 | 2, countsCache: boolean, numbers: Partial<Numbers> = {}): CgroupSample | undefined {
  const { usage, inactive, active, swap, slab, shared, mapped } = { ...KNOWN, ...numbers };
  const fields =
    version === 1 ? [usage, inactive, active, swap, shared, mapped] : [usage, inactive, active, slab, shared, mapped, 10, 20, 1, swap];
  return cgroupFiles(version, countsCache).sample(Float64Array.of(NaN, ...fields), 1);
}

describe.each([1, 2] as const)('the files of cgroup v%i', (version) => {
  test.each<[rule: string, countsCache: boolean, numbers: Partial<Numbers>, workingSet: bigint | undefined]>([
    ['count active page cache as usage, as on a kubelet', true, {}, 70n],
    ['with reclaimable-cache count neither page cache nor reclaimable slab', false, {}, version === 1 ? 25n : 20n],
    ['give at least 0, because the numbers are of two moments', false, { usage: 60 }, 0n],
    ['need no reclaimable memory as on a kubelet', true, { active: NaN }, 70n],
    ['else nothing is known without it', false, { active: NaN }, undefined],
    ['give no working set without the usage', true, { usage: NaN }, undefined],
  ])('%s', (_rule, countsCache, numbers, workingSet) => {
    expect(sampled(version, countsCache, numbers)?.workingSetBytes).toBe(workingSet);
  });

  test.each([true, false])('give the native layer the same number (active page cache is usage: %s)', (countsCache) => {
    const { files, weights } = workingSetOf('/cgroup', version, countsCache);
    expect(files.flatMap((file) => ('keys' in file ? file.keys : [file.path]))).toEqual(
      version === 1
        ? ['/cgroup/memory.usage_in_bytes', 'total_inactive_file', 'total_active_file']
        : ['/cgroup/memory.current', 'inactive_file', 'active_file', 'slab_reclaimable'],
    );
    expect(BigInt(valueOf({ weights }, Float64Array.of(100, 30, 45, ...(version === 1 ? [] : [5]))))).toBe(
      sampled(version, countsCache)?.workingSetBytes,
    );
  });

  test.each<[rule: string, numbers: Partial<Numbers>, stays: bigint | undefined]>([
    ['shared memory stays, as far as no process maps it', { inactive: 0, active: 0 }, 8n],
    ['shared buffers that are mapped do not', { inactive: 0, active: 0, mapped: 12 }, 0n],
    ['count mapped pages as regular files, which have as many pages', {}, 12n],
    ['count mapped pages as regular files as far as there are as many pages', { mapped: 79 }, 8n],
    ['may have more mapped pages than both', { mapped: 100 }, 0n],
    ['page cache is not known', { inactive: 0, active: NaN, mapped: 40 }, undefined],
    ['give not more than all, because the numbers are of two moments', { shared: 200, mapped: 0 }, version === 1 ? 25n : 20n],
    ['a kernel that does not count it', { shared: NaN, mapped: NaN }, 0n],
  ])('%s', (_rule, numbers, stays) => {
    expect(sampled(version, false, numbers)?.staysBytes).toBe(stays);
  });

  test('give swap, where the kernel counts it', () => {
    expect(sampled(version, false)).toMatchObject({ usageBytes: 100n, swapBytes: 7n, guaranteedBytes: version === 1 ? undefined : 20n });
    expect(sampled(version, false, { swap: NaN })?.swapBytes).toBe(0n);
  });

  test('have a position for each field', () => {
    const { specs } = cgroupFiles(version, false);
    const fields = specs.flatMap((spec) => ('keys' in spec ? spec.keys : [spec.path]));
    expect(fields).toEqual(
      version === 1
        ? ['memory.usage_in_bytes', 'total_inactive_file', 'total_active_file', 'total_swap', 'total_shmem', 'total_mapped_file']
        : [
            ...['memory.current', 'inactive_file', 'active_file', 'slab_reclaimable', 'shmem', 'file_mapped'],
            ...['memory.low', 'memory.min', 'populated', 'memory.swap.current'],
          ],
    );
  });
});
