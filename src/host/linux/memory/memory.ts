import { constants } from 'node:os';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { FileSpec } from '../../../native/binding.js';
import type { StatisticsOf } from './memory-reserve.js';
import { firstError, type KernelSource, type Missing } from '../sampling/kernel-source.js';

/**
 * A node's memory in bytes. available = capacity − working set; working set = usage − inactive_file; both at least 0.
 */
export interface MemoryReading {
  readonly capacity: bigint;
  readonly usage: bigint;
  readonly inactiveFile: bigint;
  /** Anonymous and file pages by the statistics that inactiveFile is from. Left out: usage is from them, too. */
  readonly pages?: bigint;
}

export interface MemorySource extends KernelSource<MemoryReading | Missing> {
  /** Statistics that may be behind the usage. */
  readonly statistics?: StatisticsOf;
  /** For people. */
  readonly description: string;
  /** The same for the sampler, with files of its own: working set = Σ weight × field. */
  readonly workingSet: { readonly files: readonly FileSpec[]; readonly weights: readonly number[] };
}

const meminfo = (...keys: string[]): FileSpec => ({ path: '/proc/meminfo', format: 'keyed', keys });

/**
 * /proc/meminfo: usage = AnonPages + Cached + Buffers + SwapCached, the kernel's NR_ANON_MAPPED + NR_FILE_PAGES. cgroup
 * v1's root.usage_in_bytes is the same sum. The kubelet's sum on v2 (`anon` + `file` of the root's memory.stat) counts
 * the same pages, but that file makes the kernel flush the statistics of every cgroup, too slow for a sampler.
 */
export function machineMemory(): MemorySource {
  const file = meminfo('AnonPages', 'Cached', 'Buffers', 'SwapCached', 'Inactive(file)');
  return source('anonymous + file pages − Inactive(file) of /proc/meminfo', [file], [1, 1, 1, 1, -1], []);
}

/** A cgroup as the node. Its capacity is the smallest visible limit of it and its ancestors, read each time. */
export function cgroupMemory(hierarchy: CgroupHierarchy, path: string): MemorySource {
  const limit = hierarchy.version === 1 ? 'memory.limit_in_bytes' : 'memory.max';
  const limits = withAncestors(path).map((cgroup): FileSpec => {
    return { path: `${cgroupDirectory(hierarchy, cgroup)}/${limit}`, format: 'number' };
  });
  const { description, files, statistics } = usageOf(hierarchy, path);
  // The root's usage_in_bytes comes from its statistics.
  return { ...source(description, files, [1, -1, 0, 0], limits), ...(path !== '/' && { statistics }) };
}

/**
 * The memory that all workloads share: the configured capacity, whatever the limits of their cgroup. Without the cgroup
 * there is no such signal, as on a kubelet without its pods cgroup.
 */
export function allocatableMemory(hierarchy: CgroupHierarchy, path: string, capacity: bigint): MemorySource {
  const { description, files, statistics } = usageOf(hierarchy, path);
  const weights = [1, -1, 0, 0];
  return {
    statistics,
    description: `${String(capacity)} − (${description})`,
    workingSet: { files, weights },
    files,
    read: (values, errors) => {
      if (errors.some((errno) => GONE.has(errno))) return { missing: `${path} does not exist`, absent: true };
      return firstError(files, errors) ?? { capacity, ...summed(values, weights) };
    },
  };
}

/** The errno of reading a file of a missing or removed cgroup. */
const GONE: ReadonlySet<number> = new Set([constants.errno.ENOENT, constants.errno.ENODEV]);

/** inactive_file, then all pages. */
const V1_STATISTICS = ['total_inactive_file', 'total_rss', 'total_cache'];
const V2_STATISTICS = ['inactive_file', 'anon', 'file'];

function usageOf(
  hierarchy: CgroupHierarchy,
  path: string,
): { readonly description: string; readonly files: readonly FileSpec[]; readonly statistics: StatisticsOf } {
  const directory = cgroupDirectory(hierarchy, path);
  const v1 = hierarchy.version === 1;
  const usage = v1 ? 'memory.usage_in_bytes' : 'memory.current';
  return {
    description: `${usage} − inactive_file of ${path}`,
    files: [
      { path: `${directory}/${usage}`, format: 'number' },
      // v1's inactive_file has only the cgroup's own pages; usage_in_bytes includes its descendants.
      { path: `${directory}/memory.stat`, format: 'keyed', keys: v1 ? V1_STATISTICS : V2_STATISTICS },
    ],
    statistics: { directory, version: hierarchy.version },
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
      // v2's root has no limit file; an unreadable limit (NaN) does not count.
      const capacity = values.slice(weights.length).reduce((smallest, limit) => (limit < smallest ? limit : smallest), Infinity);
      return { capacity: BigInt(capacity), ...summed(values, weights) };
    },
  };
}

function summed(values: Float64Array, weights: readonly number[]): Omit<MemoryReading, 'capacity'> {
  const pages = weights.includes(0) && { pages: sum(values, weights, 0) };
  return { usage: sum(values, weights, 1), inactiveFile: sum(values, weights, -1), ...pages };
}

function sum(values: Float64Array, weights: readonly number[], sign: 1 | 0 | -1): bigint {
  return BigInt(weights.reduce((total, weight, field) => total + (weight === sign ? (values[field] ?? 0) : 0), 0));
}

/** usage − inactive_file, at least 0. */
export function workingSetOf({ usage, inactiveFile }: MemoryReading): bigint {
  return usage > inactiveFile ? usage - inactiveFile : 0n;
}

/** At least 0. */
export function availableOf(reading: MemoryReading): bigint {
  const available = reading.capacity - workingSetOf(reading);
  return available > 0n ? available : 0n;
}
