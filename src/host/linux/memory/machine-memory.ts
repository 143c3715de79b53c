import { existsSync, readFileSync } from 'node:fs';
import type { Departures } from '../../../core/decide/departures.js';
import type { CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { FileSpec } from '../../../native/binding.js';
import { firstError } from '../sampling/kernel-source.js';
import { impossibleEstimate, impossiblePages, readEstimateFiles, type EstimateFiles } from './estimate.js';
import { usageFile, v1RootMemory } from './cgroup-memory.js';
import { lowWatermark, meminfo, usedIn, type MemorySource, type SampledMemory } from './memory.js';

export interface MemoryFiles {
  /** The text of /proc/meminfo. */
  readonly meminfo: string;
  /** ZFS' statistics of its cache; undefined: no ZFS. */
  readonly arcstats: string | undefined;
}

const ARCSTATS = '/proc/spl/kstat/zfs/arcstats';

export function readMemoryFiles(): MemoryFiles {
  return { meminfo: readFileSync('/proc/meminfo', 'latin1'), arcstats: findArcstats() };
}

/** ZFS may be loaded and unloaded at any time. undefined: it is not loaded. */
export function findArcstats(): string | undefined {
  return existsSync(ARCSTATS) ? ARCSTATS : undefined;
}

/** Whether /proc/meminfo has the kernel's estimate (Linux 3.14; a container's meminfo may lack it). */
function hasMemAvailable(text: string): boolean {
  return /^MemAvailable: +\d+ kB$/m.test(text);
}

/**
 * memory.available of the machine. `kernel-memory`: MemAvailable, and what ZFS can give back. Where the kernel has no
 * such estimate, memory is counted as the kubelet counts it.
 *
 * @param v1Root  the hierarchy where it is cgroup v1 and shows the machine's root
 */
export function machineMemory(
  departures: Departures,
  v1Root: CgroupHierarchy | undefined,
  files: MemoryFiles,
  again = readEstimateFiles,
): MemorySource {
  const { 'kernel-memory': kernel, 'reclaimable-cache': cache } = departures;
  const estimated = hasMemAvailable(files.meminfo);
  if (kernel && estimated) return estimatedMemory(cache, v1Root && usageFile(v1Root, '/'), files, again);
  const countsCache = cache && !kernel;
  return v1Root ? v1RootMemory(v1Root, countsCache) : pageMemory(countsCache, files.meminfo, again);
}

/**
 * MemAvailable (mm/show_mem.c, si_mem_available): free pages above the kernel's reserve, page cache and reclaimable
 * slab. ZFS' cache is in neither; ZFS shrinks it to `c_min`. Without `countsCache`, active page cache counts as used. The
 * capacity is without the pools of huge pages, which can never become available.
 *
 * @param usage  what a v1 threshold compares; undefined: there is none
 */
function estimatedMemory(
  countsCache: boolean,
  usage: FileSpec | undefined,
  { meminfo: text, arcstats }: MemoryFiles,
  again: () => EstimateFiles,
): MemorySource {
  const pools = /^Hugetlb: +\d+ kB$/m.test(text) ? ['Hugetlb'] : []; // Linux 4.16
  const estimate = meminfo('MemTotal', 'MemAvailable', 'MemFree', ...pools, ...(countsCache ? [] : ['Active(file)']));
  const weights = [0, -1, 0, ...pools.map(() => 0), ...(countsCache ? [] : [1])];
  const arc: FileSpec[] = arcstats === undefined ? [] : [{ path: arcstats, format: 'kstat', keys: ['size', 'c_min'] }];
  const sampled: SampledMemory = {
    counts: 'free',
    files: [estimate, ...arc],
    weights: [...weights, ...arc.flatMap(() => [0, 0])],
    reclaimable: arc.map(() => ({ weights: [...weights.map(() => 0), 1, -1], kept: 0 })),
  };
  const required = [estimate, ...(usage ? [usage] : [])];
  const shrinks = arcstats === undefined ? '' : ` + size − c_min of ${arcstats}`;
  return {
    description: `MemAvailable${countsCache ? '' : ' − Active(file)'} of /proc/meminfo${shrinks}`,
    sampled,
    countsKernelMemory: true,
    files: [estimate, ...arc, ...(usage ? [usage] : [])],
    read: (values, errors) => {
      const [ofEstimate = 0, ofUsage = 0] = [errors[0], usage && errors[1 + arc.length]];
      const missing = firstError(required, Int32Array.of(ofEstimate, ofUsage)) ?? impossibleEstimate(values, again);
      if (missing) return missing;
      const capacity = BigInt((values[0] ?? NaN) - (pools.length === 0 ? 0 : poolsIn(values)));
      const inUse = usedIn(sampled, values, capacity);
      const counted = usage === undefined ? inUse : BigInt(values[sampled.weights.length] ?? NaN);
      return { capacity, usage: counted, reclaimable: counted - inUse };
    },
  };
}

/**
 * The pools of huge pages of all sizes, used or not. 0: none, or the pools of another machine, as lxcfs shows them.
 *
 * @param values  MemTotal, MemAvailable, MemFree and Hugetlb, in bytes
 */
function poolsIn([total = NaN, available = NaN, , pools = NaN]: Float64Array): number {
  return pools <= total - available ? pools : 0;
}

/**
 * AnonPages + Cached + Buffers + SwapCached, the kernel's NR_ANON_MAPPED + NR_FILE_PAGES, less what counts as
 * available. cgroup v1's root.usage_in_bytes is the same sum. The kubelet's sum on v2 (`anon` + `file` of the root's
 * memory.stat) counts the same pages, but that file makes the kernel flush the statistics of every cgroup, too slow for
 * a sampler.
 */
function pageMemory(countsCache: boolean, text: string, again: () => EstimateFiles): MemorySource {
  const total = Number(/^MemTotal: +(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
  const file = meminfo('MemTotal', ...PAGES, 'Inactive(file)', 'MemFree', ...(countsCache ? ['Active(file)'] : []));
  const sampled: SampledMemory = {
    counts: 'free',
    files: [file],
    weights: [-1, 1, 1, 1, 1, -1, 0, ...(countsCache ? [0] : [])],
    reclaimable: countsCache ? [{ weights: [0, 0, 0, 0, 0, 0, 0, 1], kept: lowWatermark(total) }] : [],
  };
  return {
    description: `anonymous + file pages − ${countsCache ? 'reclaimable page cache' : 'Inactive(file)'} of /proc/meminfo`,
    sampled,
    files: [file],
    read: (values, errors) => {
      const missing = firstError([file], errors) ?? impossiblePages(values, again);
      if (missing) return missing;
      const usage = BigInt(values.subarray(1, 1 + PAGES.length).reduce((sum, pages) => sum + pages, 0));
      const capacity = BigInt(values[0] ?? NaN);
      return { capacity, usage, reclaimable: usage - usedIn(sampled, values, capacity) };
    },
  };
}

const PAGES = ['AnonPages', 'Cached', 'Buffers', 'SwapCached'];
