import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/cgroup.js';
import type { FileSpec } from '../../native/binding.js';
import { firstError, type KernelSource, type Missing } from './kernel-source.js';
import type { MemorySource } from './memory.js';

/** An amount of the machine's memory or swap that is left, in bytes. */
export interface AmountReading {
  readonly available: bigint;
  readonly capacity: bigint;
}

export interface AmountSource extends KernelSource<AmountReading | Missing> {
  /** For people. */
  readonly description: string;
  /** What is used of the capacity, for the sampler: Σ weight × field. */
  readonly used: MemorySource['workingSet'];
}

const meminfo = (...keys: string[]): FileSpec => ({ path: '/proc/meminfo', format: 'keyed', keys });

/** memory.kernelAvailable: what the kernel itself expects to be able to give without swapping (Documentation/filesystems/proc.rst, MemAvailable). */
export function kernelAvailable(isCgroup: boolean): AmountSource {
  const file = meminfo('MemTotal', 'MemAvailable');
  return {
    description: `MemAvailable of /proc/meminfo${isCgroup ? " (the machine's)" : ''}`,
    files: [file],
    used: { files: [file], weights: [1, -1] },
    read: (values, errors) => {
      const [total = NaN, available = NaN] = values;
      return firstError([file], errors) ?? { available: BigInt(Math.min(available, total)), capacity: BigInt(total) };
    },
  };
}

/** swap.available of the machine. Without any swap there is no such signal: nothing is short of what is not there. */
export function machineSwap(isCgroup: boolean): AmountSource {
  const file = meminfo('SwapTotal', 'SwapFree');
  return {
    description: `SwapFree of /proc/meminfo${isCgroup ? " (the machine's: a v1 cgroup's swap is not counted apart)" : ''}`,
    files: [file],
    used: { files: [file], weights: [1, -1] },
    read: (values, errors) => {
      const [total = NaN, free = NaN] = values;
      return firstError([file], errors) ?? swapOf(total, free, 'this machine has no swap');
    },
  };
}

/** The same of a v2 cgroup: what its limits and those above it leave, and no more than the machine has. */
export function cgroupSwap(hierarchy: CgroupHierarchy, path: string): AmountSource {
  const machine = meminfo('SwapTotal', 'SwapFree');
  const current: FileSpec = { path: `${cgroupDirectory(hierarchy, path)}/memory.swap.current`, format: 'number' };
  const required = [current, machine];
  const limits = withAncestors(path).map((cgroup): FileSpec => {
    return { path: `${cgroupDirectory(hierarchy, cgroup)}/memory.swap.max`, format: 'number' };
  });
  return {
    description: `memory.swap.max − memory.swap.current of ${path}, at most SwapFree of /proc/meminfo`,
    files: [...required, ...limits],
    used: { files: [current], weights: [1] },
    read: (values, errors) => {
      const missing = firstError(required, errors.subarray(0, required.length));
      if (missing) return missing;
      const [used = NaN, total = NaN, free = NaN, ...allowed] = values;
      // v2's root has no limit file: NaN is left out.
      const capacity = Math.min(total, ...allowed.filter((limit) => !Number.isNaN(limit)));
      return swapOf(capacity, Math.min(capacity - used, free), total === 0 ? 'this machine has no swap' : `${path} may not use swap`);
    },
  };
}

function swapOf(capacity: number, available: number, none: string): AmountReading | Missing {
  if (capacity === 0) return { missing: none, absent: true };
  return { available: BigInt(Math.max(available, 0)), capacity: BigInt(capacity) };
}
