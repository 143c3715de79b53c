import { constants } from 'node:os';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/cgroup.js';
import type { FileSpec } from '../../native/binding.js';
import { firstError, type KernelSource, type Missing } from './kernel-source.js';

/** The node's memory, in bytes. available = capacity − workingSet, workingSet = usage − inactive_file, both floored at 0. */
export interface MemoryReading {
  readonly capacity: bigint;
  readonly usage: bigint;
  readonly inactiveFile: bigint;
}

export interface MemorySource extends KernelSource<MemoryReading | Missing> {
  /** For people. */
  readonly description: string;
  /** The same number for the sampler, on files of its own: working set = Σ weight × field. */
  readonly workingSet: { readonly files: readonly FileSpec[]; readonly weights: readonly number[] };
}

const meminfo = (...keys: string[]): FileSpec => ({ path: '/proc/meminfo', format: 'keyed', keys });

/**
 * The machine by /proc/meminfo: usage = AnonPages + Cached + Buffers + SwapCached, which are the kernel's NR_ANON_MAPPED + NR_FILE_PAGES. cgroup v1's
 * root.usage_in_bytes is the same sum; what the kubelet adds up on v2 (`anon` + `file` of the root's memory.stat) counts the same pages, but reading that file
 * makes the kernel collect the statistics of every cgroup of the machine, which a sampler cannot afford.
 */
export function machineMemory(): MemorySource {
  const file = meminfo('AnonPages', 'Cached', 'Buffers', 'SwapCached', 'Inactive(file)');
  return source('anonymous + file pages − Inactive(file) of /proc/meminfo', [file], [1, 1, 1, 1, -1], []);
}

/** A cgroup as the node. Its capacity is the smallest limit of it and of all above it that this process can see; limits may change, so they are read each time. */
export function cgroupMemory(hierarchy: CgroupHierarchy, path: string): MemorySource {
  const limit = hierarchy.version === 1 ? 'memory.limit_in_bytes' : 'memory.max';
  const limits = withAncestors(path).map((cgroup): FileSpec => {
    return { path: `${cgroupDirectory(hierarchy, cgroup)}/${limit}`, format: 'number' };
  });
  const { description, files } = usageOf(hierarchy, path);
  return source(description, files, [1, -1], limits);
}

/**
 * What all workloads may have together: the configured capacity, whatever the limits of the cgroup that they live in. While it is not there, nothing here is
 * that signal, as on a kubelet without its pods cgroup.
 */
export function allocatableMemory(hierarchy: CgroupHierarchy, path: string, capacity: bigint): MemorySource {
  const { description, files } = usageOf(hierarchy, path);
  const weights = [1, -1];
  return {
    description: `${String(capacity)} − (${description})`,
    workingSet: { files, weights },
    files,
    read: (values, errors) => {
      if (errors.some((errno) => GONE.has(errno))) return { missing: `${path} does not exist`, absent: true };
      return firstError(files, errors) ?? { capacity, usage: sum(values, weights, 1), inactiveFile: sum(values, weights, -1) };
    },
  };
}

/** What a file of a cgroup that is not there, or no more, is answered with. */
const GONE: ReadonlySet<number> = new Set([constants.errno.ENOENT, constants.errno.ENODEV]);

function usageOf(hierarchy: CgroupHierarchy, path: string): { readonly description: string; readonly files: readonly FileSpec[] } {
  const directory = cgroupDirectory(hierarchy, path);
  const v1 = hierarchy.version === 1;
  const usage = v1 ? 'memory.usage_in_bytes' : 'memory.current';
  return {
    description: `${usage} − inactive_file of ${path}`,
    files: [
      { path: `${directory}/${usage}`, format: 'number' },
      // v1 counts only the cgroup's own pages in inactive_file, usage_in_bytes those of all below it too.
      { path: `${directory}/memory.stat`, format: 'keyed', keys: [v1 ? 'total_inactive_file' : 'inactive_file'] },
    ],
  };
}

function source(description: string, files: readonly FileSpec[], weights: readonly number[], limits: readonly FileSpec[]): MemorySource {
  const required = [...files, meminfo('MemTotal')];
  return {
    description,
    workingSet: { files, weights },
    files: [...required, ...limits],
    read: (values, errors) => {
      const missing = firstError(required, errors.subarray(0, required.length));
      if (missing) return missing;
      // v2's root has no limit file, and a limit that cannot be read does not narrow the node: NaN is left out.
      const capacity = values.slice(weights.length).reduce((smallest, limit) => (limit < smallest ? limit : smallest), Infinity);
      return { capacity: BigInt(capacity), usage: sum(values, weights, 1), inactiveFile: sum(values, weights, -1) };
    },
  };
}

function sum(values: Float64Array, weights: readonly number[], sign: 1 | -1): bigint {
  return BigInt(weights.reduce((total, weight, field) => total + (weight === sign ? (values[field] ?? 0) : 0), 0));
}

/** usage − inactive_file, floored at 0. */
export function workingSetOf({ usage, inactiveFile }: MemoryReading): bigint {
  return usage > inactiveFile ? usage - inactiveFile : 0n;
}

/** Floored at 0. */
export function availableOf(reading: MemoryReading): bigint {
  const available = reading.capacity - workingSetOf(reading);
  return available > 0n ? available : 0n;
}
