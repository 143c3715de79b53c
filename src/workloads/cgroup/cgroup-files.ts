import { attempt, errnoName } from '../../errors.js';
import type { Binding, CgroupHandle, FileSpec, FileSum } from '../../native/binding.js';
import { readFileSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { fsPath } from '../../byte-paths.js';

/** One row of the table for a cgroup, in bytes. */
export interface CgroupSample {
  readonly usageBytes: bigint;
  /** usage − inactive_file, and − active_file − slab_reclaimable (v2) where the kernel's cache is not usage; at least 0. */
  readonly workingSetBytes: bigint;
  /** As in WorkloadStats. 0n: none, or not read. */
  readonly staysBytes: bigint;
  /** 0n: none, or the kernel does not count it. */
  readonly swapBytes: bigint;
  /** The working set is not read: this is the usage. */
  readonly workingSetAtMost?: true;
  /** The larger of memory.low and memory.min; undefined: v1, which has neither. */
  readonly guaranteedBytes: bigint | undefined;
}

/** The files of a candidate, and how to interpret them. */
export interface CgroupFiles {
  readonly specs: readonly FileSpec[];
  /**
   * `values[first]` and following are the fields of the specs in order. undefined: usage or page cache is unknown.
   *
   * @param isBound  the page cache was not read
   */
  sample(values: Float64Array, first: number, isBound?: boolean): CgroupSample | undefined;
  /** Bits of the specs without memory.stat, which takes ten times as long to read as all others. */
  readonly cheap: number;
  /** Whether processes live in it or below; undefined: unknown. */
  populated(values: Float64Array, first: number): boolean | undefined;
  readonly usageFile: string;
  /** The cgroup's own limit. */
  readonly limitFile: string;
}

/** The effective value of memory.low = max: the kernel counts bytes in 63 bits. */
export const ALL_MEMORY = 2n ** 63n - 1n;

const v1 = (countsCache: boolean): CgroupFiles => ({
  usageFile: 'memory.usage_in_bytes',
  limitFile: 'memory.limit_in_bytes',
  specs: [
    { path: 'memory.usage_in_bytes', format: 'number' },
    {
      path: 'memory.stat',
      format: 'keyed',
      keys: ['total_inactive_file', 'total_active_file', 'total_swap', 'total_shmem', 'total_mapped_file'],
    },
  ],
  sample: (values, first, isBound = false) => {
    if (isBound) return bound(values[first], 0n, undefined);
    const [usage, inactive, active = NaN, swap, shared, mapped] = values.subarray(first, first + 6);
    return sample(usage, inactive, countsCache ? 0 : active, staying(shared, mapped, inactive, active), swap);
  },
  cheap: 0b1,
  populated: () => undefined,
});

const V2_STATISTICS = ['inactive_file', 'active_file', 'slab_reclaimable', 'shmem', 'file_mapped'];

const v2 = (countsCache: boolean): CgroupFiles => ({
  usageFile: 'memory.current',
  limitFile: 'memory.max',
  specs: [
    { path: 'memory.current', format: 'number' },
    { path: 'memory.stat', format: 'keyed', keys: V2_STATISTICS },
    { path: 'memory.low', format: 'number' },
    { path: 'memory.min', format: 'number' },
    { path: 'cgroup.events', format: 'keyed', keys: ['populated'] },
    { path: 'memory.swap.current', format: 'number' },
  ],
  cheap: 0b111101,
  sample: (values, first, isBound = false) => {
    const [low, min] = [bytes(values[first + 6]), bytes(values[first + 7])];
    const guaranteed = low > min ? low : min;
    if (isBound) return bound(values[first], bytes(values[first + 9]), guaranteed);
    const [usage, inactive, active = NaN, slab = 0, shared, mapped, , , , swap] = values.subarray(first, first + 10);
    const dropped = countsCache ? 0 : active + (Number.isNaN(slab) ? 0 : slab);
    return sample(usage, inactive, dropped, staying(shared, mapped, inactive, active), swap, guaranteed);
  },
  populated: (values, first) => {
    const populated = values[first + 8] ?? NaN;
    return Number.isNaN(populated) ? undefined : populated !== 0;
  },
});

/** @param countsCache  active page cache is usage, as on a kubelet */
export function cgroupFiles(version: 1 | 2, countsCache: boolean): CgroupFiles {
  return version === 1 ? v1(countsCache) : v2(countsCache);
}

/** The working set of a cgroup as a value for the native layer. It may be below 0. */
export function workingSetOf(directory: string, version: 1 | 2, countsCache: boolean): FileSum {
  const all = version === 1 ? 'total_' : '';
  const dropped = version === 1 ? ['total_active_file'] : ['active_file', 'slab_reclaimable'];
  return {
    files: [
      { path: `${directory}/${cgroupFiles(version, countsCache).usageFile}`, format: 'number' },
      { path: `${directory}/memory.stat`, format: 'keyed', keys: [`${all}inactive_file`, ...dropped] },
    ],
    weights: [1, -1, ...dropped.map(() => (countsCache ? 0 : -1))],
  };
}

/** The limit in a file, in bytes; undefined: none, or unreadable. */
export function limitIn(file: string): bigint | undefined {
  return attempt(() => limitBytes(readFileSync(fsPath(file), 'latin1')));
}

/** A limit in bytes; undefined: none, which v1 writes as the largest number of whole pages. */
function limitBytes(text: string): bigint | undefined {
  const [digits] = /^\d+/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const limit = BigInt(digits);
  return limit > LARGEST_LIMIT ? undefined : limit;
}

/** Pages have at most 64 KiB. */
const LARGEST_LIMIT = ALL_MEMORY - 64n * 1024n;

/**
 * Shared memory that no process maps. What is mapped ends with the processes as far as the counters tell: they do not
 * distinguish a file on a tmpfs from the shared buffers of a database (NR_FILE_MAPPED counts both, mm/rmap.c). Mapped pages
 * may be those of regular files, which are on the lists of file pages; shared memory is on those of anonymous pages.
 */
function staying(shared = 0, mapped = 0, inactive = NaN, active = NaN): number {
  const regular = inactive + active;
  const ends = mapped > regular ? mapped - regular : 0;
  return shared > ends ? shared - ends : 0;
}

function sample(
  usage = NaN,
  inactive = NaN,
  dropped: number,
  stays: number,
  swap = NaN,
  guaranteedBytes?: bigint,
): CgroupSample | undefined {
  if (Number.isNaN(usage + inactive + dropped)) return undefined;
  const workingSet = Math.max(usage - inactive - dropped, 0);
  return {
    usageBytes: BigInt(usage),
    workingSetBytes: BigInt(workingSet),
    staysBytes: BigInt(Math.min(stays, workingSet)),
    swapBytes: bytes(swap),
    guaranteedBytes,
  };
}

/** Runs on the path of an eviction: nothing is copied. */
function bound(usage = NaN, swapBytes: bigint, guaranteedBytes: bigint | undefined): CgroupSample | undefined {
  if (Number.isNaN(usage)) return undefined;
  const usageBytes = BigInt(usage);
  return { usageBytes, workingSetBytes: usageBytes, staysBytes: 0n, swapBytes, guaranteedBytes, workingSetAtMost: true };
}

function bytes(value = 0): bigint {
  if (value === Infinity) return ALL_MEMORY;
  return Number.isNaN(value) ? 0n : BigInt(value);
}

/**
 * Process ids of a cgroup and all below, as the pids controller counts them, threads included. If the controller has no
 * count (switched off, or on v1 not in that hierarchy), the number of listed processes. undefined: neither is known.
 *
 * @param pids  undefined: there is no pids controller
 */
export function processCount(
  pids: CgroupHierarchy | undefined,
  path: string,
  listed: () => readonly number[] | 'too many' | undefined,
): bigint | undefined {
  const counted = pids && countedBy(pids, path);
  if (counted !== undefined && counted > 0n) return counted;
  const processes = listed();
  return typeof processes === 'object' ? BigInt(processes.length) : undefined;
}

function countedBy(pids: CgroupHierarchy, path: string): bigint | undefined {
  return attempt(() => BigInt(readFileSync(fsPath(`${cgroupDirectory(pids, path)}/pids.current`), 'latin1').trim()));
}

/** The cgroup was removed, or replaced by another of the same name. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENODEV', 'ESTALE']);

/** The pids of the cgroup and below; 'too many': of more cgroups than are listed; undefined: unknown. */
export function processesIn(
  native: Binding,
  hierarchy: CgroupHierarchy,
  { path, id }: { readonly path: string; readonly id: bigint },
): readonly number[] | 'too many' | undefined {
  let handle: CgroupHandle | undefined;
  try {
    handle = new native.CgroupHandle(cgroupDirectory(hierarchy, path), id);
    return handle.processes();
  } catch (error) {
    const errno = errnoName(error) ?? '';
    return errno === 'EFBIG' ? 'too many' : GONE.has(errno) ? [] : undefined;
  } finally {
    handle?.close();
  }
}
