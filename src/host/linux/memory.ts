import { constants } from 'node:os';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/cgroup.js';
import type { FileSpec } from '../../native/binding.js';
import type { StatisticsOf } from './fresh-memory.js';
import { firstError, type KernelSource, type Missing } from './kernel-source.js';

/** The node's memory, in bytes. available = capacity − workingSet, workingSet = usage − inactive_file, both floored at 0. */
export interface MemoryReading {
  readonly capacity: bigint;
  readonly usage: bigint;
  readonly inactiveFile: bigint;
  /** Anonymous and file pages, by the same statistics as inactiveFile. Left out: usage is by these, too. */
  readonly pages?: bigint;
}

export interface MemorySource extends KernelSource<MemoryReading | Missing> {
  /** Whose statistics may be behind its usage. */
  readonly statistics?: StatisticsOf;
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
  const { description, files, statistics } = usageOf(hierarchy, path);
  // The root's usage_in_bytes is made of its statistics.
  return { ...source(description, files, [1, -1, 0, 0], limits), ...(path !== '/' && { statistics }) };
}

/**
 * What all workloads may have together: the configured capacity, whatever the limits of the cgroup that they live in. While it is not there, nothing here is
 * that signal, as on a kubelet without its pods cgroup.
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

/** What a file of a cgroup that is not there, or no more, is answered with. */
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
      // v1 counts only the cgroup's own pages in inactive_file, usage_in_bytes those of all below it too.
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
      // v2's root has no limit file, and a limit that cannot be read does not narrow the node: NaN is left out.
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

/** usage − inactive_file, floored at 0. */
export function workingSetOf({ usage, inactiveFile }: MemoryReading): bigint {
  return usage > inactiveFile ? usage - inactiveFile : 0n;
}

/** Floored at 0. */
export function availableOf(reading: MemoryReading): bigint {
  const available = reading.capacity - workingSetOf(reading);
  return available > 0n ? available : 0n;
}
