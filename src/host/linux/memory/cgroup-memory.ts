import { readFileSync } from 'node:fs';
import { constants, totalmem } from 'node:os';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { FileSpec } from '../../../native/binding.js';
import { valueOf } from '../sampling/file-sum.js';
import { firstError } from '../sampling/kernel-source.js';
import { lowWatermark, meminfo, type MemoryReading, type MemorySource, type SampledMemory, type Statistics } from './memory.js';
import { attempt } from '../../../errors.js';
import { fsPath } from '../../../byte-paths.js';

/**
 * A cgroup as the node. Its capacity is the smallest limit of it and its ancestors, read each time: on v2 of those that
 * the mount shows.
 *
 * @param countsCache  what the kernel can reclaim counts as available: docs/adr/042
 */
export function cgroupMemory(hierarchy: CgroupHierarchy, path: string, countsCache: boolean): MemorySource {
  const limits = limitFiles(hierarchy, path);
  const cgroup = usageOf(hierarchy, path, countsCache, Math.min(limitNow(hierarchy, path), totalmem()));
  const required = [...cgroup.sampled.files, meminfo('MemTotal')];
  return {
    ...cgroup,
    files: [...required, ...limits],
    read: (values, errors) => {
      const missing = firstError(required, errors.subarray(0, required.length));
      if (missing) return missing;
      // v2's root has no limit file; an unreadable limit (NaN) does not count.
      const levels = values.subarray(cgroup.sampled.weights.length);
      const capacity = levels.reduce((smallest, limit) => (limit < smallest ? limit : smallest), Infinity);
      return { capacity: BigInt(capacity), ...cgroup.reading(values) };
    },
  };
}

/** The root cgroup of v1. Its usage is the sum of its pages, from the same statistics: no kernel memory is charged to it. */
export function v1RootMemory(hierarchy: CgroupHierarchy, countsCache: boolean): MemorySource {
  const memory = cgroupMemory(hierarchy, '/', countsCache);
  const { description, sampled, files } = memory;
  return { description, sampled, files, read: (values, errors) => memory.read(values, errors) };
}

/**
 * The memory that all workloads share: the configured capacity, whatever the limits of their cgroup, or the smallest limit of it and
 * its ancestors now: a kubelet sets that of its pods cgroup to what it does not reserve (pkg/kubelet/cm,
 * node_container_manager_linux.go). Without the cgroup there is no such signal, as on a kubelet without its pods cgroup.
 *
 * @param capacity  undefined: the limit
 */
export function allocatableMemory(
  hierarchy: CgroupHierarchy,
  path: string,
  capacity: bigint | undefined,
  countsCache: boolean,
): MemorySource {
  const cgroup = capacity === undefined ? cgroupMemory(hierarchy, path, countsCache) : ofCapacity(hierarchy, path, capacity, countsCache);
  const required = cgroup.sampled.files.length;
  return {
    ...cgroup,
    description: `${capacity === undefined ? 'its limit' : String(capacity)} − (${cgroup.description})`,
    read: (values, errors) => {
      const isGone = errors.subarray(0, required).some((errno) => GONE.has(errno));
      return isGone ? { missing: `${path} does not exist`, absent: true } : cgroup.read(values, errors);
    },
  };
}

function ofCapacity(hierarchy: CgroupHierarchy, path: string, capacity: bigint, countsCache: boolean): MemorySource {
  const cgroup = usageOf(hierarchy, path, countsCache, Number(capacity));
  const { files } = cgroup.sampled;
  return { ...cgroup, files, read: (values, errors) => firstError(files, errors) ?? { capacity, ...cgroup.reading(values) } };
}

export function usageFile(hierarchy: CgroupHierarchy, path: string): FileSpec {
  const name = hierarchy.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
  return { path: `${cgroupDirectory(hierarchy, path)}/${name}`, format: 'number' };
}

/** The smallest limit of the cgroup and its ancestors now, in bytes; Infinity: none is visible. */
export function limitNow(hierarchy: CgroupHierarchy, path: string): number {
  return Math.min(...limitFiles(hierarchy, path).map(numberIn));
}

/** The errno of reading a file of a missing or removed cgroup. */
const GONE: ReadonlySet<number> = new Set([constants.errno.ENOENT, constants.errno.ENODEV]);

/**
 * All pages; those that count as available, and those that do but for a part. v1's own numbers leave out the cgroups
 * below, which usage includes.
 */
const STATISTICS = {
  1: { pages: ['total_rss', 'total_cache'], inactive: 'total_inactive_file', partly: ['total_active_file'] },
  2: { pages: ['anon', 'file'], inactive: 'inactive_file', partly: ['active_file', 'slab_reclaimable'] },
} as const;

type Usage = Pick<MemorySource, 'description' | 'sampled' | 'statistics' | 'countsKernelMemory'> & {
  readonly reading: (values: Float64Array) => Omit<MemoryReading, 'capacity'>;
};

/**
 * used = usage − inactive file pages − what else the kernel can reclaim: active file pages, and slab (v1 does not count
 * slab). As in MemAvailable, it keeps a part of each of these, and dirty pages count: docs/adr/042.
 */
function usageOf(hierarchy: CgroupHierarchy, path: string, countsCache: boolean, capacity: number): Usage {
  const { version } = hierarchy;
  const directory = cgroupDirectory(hierarchy, path);
  const { pages, inactive, partly } = STATISTICS[version];
  const parts = countsCache ? partly : [];
  const keys = [...pages, inactive, ...parts];
  const usage = usageFile(hierarchy, path);
  const kept = lowWatermark(capacity);
  const sampled: SampledMemory = {
    counts: 'used', // the capacity is in other files
    files: [usage, { path: `${directory}/memory.stat`, format: 'keyed', keys }],
    weights: [1, 0, 0, -1, ...parts.map(() => 0)],
    reclaimable: parts.map((part) => ({ weights: [0, ...keys.map((key) => (key === part ? 1 : 0))], kept })),
  };
  const statistics: Statistics = {
    directory,
    version,
    keys: keys.map((key) => key.replace(/^total_/, '')),
    explained: { files: sampled.files, weights: sampled.weights.map((_, field) => (field === 0 ? -1 : field <= pages.length ? 1 : 0)) },
    reclaimableOf: (counts) => BigInt(-valueOf(sampled, Float64Array.of(0, ...counts))),
  };
  return {
    description: `${usage.path.slice(directory.length + 1)} − ${countsCache ? 'reclaimable memory' : 'inactive_file'} of ${path}`,
    sampled,
    statistics,
    countsKernelMemory: true,
    reading: (values) => {
      const [charged = NaN, anonymous = NaN, file = NaN] = values;
      const inUse = valueOf(sampled, values);
      return { usage: BigInt(charged), reclaimable: BigInt(charged - inUse), pages: BigInt(anonymous + file) };
    },
  };
}

/** v1 names the limit that applies, also that of a cgroup above what the mount shows (mm/memcontrol-v1.c, memcg1_stat_format). */
function limitFiles(hierarchy: CgroupHierarchy, path: string): FileSpec[] {
  if (hierarchy.version === 1) {
    return [{ path: `${cgroupDirectory(hierarchy, path)}/memory.stat`, format: 'keyed', keys: [V1_LIMIT] }];
  }
  return withAncestors(path).map((cgroup) => ({ path: `${cgroupDirectory(hierarchy, cgroup)}/memory.max`, format: 'number' }));
}

const V1_LIMIT = 'hierarchical_memory_limit';

/** Infinity: 'max', or not readable. */
function numberIn({ path }: FileSpec): number {
  const text = attempt(() => readFileSync(fsPath(path), 'latin1')) ?? '';
  return Number(/^(?:hierarchical_memory_limit )?(\d+)$/m.exec(text)?.[1] ?? Infinity);
}
