import type { FileSpec } from '../../native/binding.js';
import { readFileSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';

/** One row of the table for a cgroup, in bytes. */
export interface CgroupSample {
  readonly usageBytes: bigint;
  /** usage − inactive_file, floored at 0. */
  readonly workingSetBytes: bigint;
  /** The larger of memory.low and memory.min; undefined: v1, which has neither. */
  readonly guaranteedBytes: bigint | undefined;
}

/** The files of a candidate, and how to interpret them. */
export interface CgroupFiles {
  readonly specs: readonly FileSpec[];
  /**
   * `values[first]` and following are the fields of the specs in order. undefined: usage or inactive_file is unknown.
   */
  sample(values: Float64Array, first: number): CgroupSample | undefined;
  /** Whether processes live in it or below; undefined: unknown. */
  populated(values: Float64Array, first: number): boolean | undefined;
  readonly usageFile: string;
  /** The cgroup's own limit. */
  readonly limitFile: string;
}

/** The effective value of memory.low = max: the kernel counts bytes in 63 bits. */
export const ALL_MEMORY = 2n ** 63n - 1n;

const v1: CgroupFiles = {
  usageFile: 'memory.usage_in_bytes',
  limitFile: 'memory.limit_in_bytes',
  specs: [
    { path: 'memory.usage_in_bytes', format: 'number' },
    { path: 'memory.stat', format: 'keyed', keys: ['total_inactive_file'] },
  ],
  sample: (values, first) => sample(values[first], values[first + 1]),
  populated: () => undefined,
};

const v2: CgroupFiles = {
  usageFile: 'memory.current',
  limitFile: 'memory.max',
  specs: [
    { path: 'memory.current', format: 'number' },
    { path: 'memory.stat', format: 'keyed', keys: ['inactive_file'] },
    { path: 'memory.low', format: 'number' },
    { path: 'memory.min', format: 'number' },
    { path: 'cgroup.events', format: 'keyed', keys: ['populated'] },
  ],
  sample: (values, first) => {
    const [low, min] = [bytes(values[first + 2]), bytes(values[first + 3])];
    return sample(values[first], values[first + 1], low > min ? low : min);
  },
  populated: (values, first) => {
    const populated = values[first + 4] ?? NaN;
    return Number.isNaN(populated) ? undefined : populated !== 0;
  },
};

export function cgroupFiles(version: 1 | 2): CgroupFiles {
  return version === 1 ? v1 : v2;
}

/** A limit in bytes; undefined: none, which v1 writes as the largest number of whole pages. */
export function limitBytes(text: string): bigint | undefined {
  const [digits] = /^\d+/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const limit = BigInt(digits);
  return limit > LARGEST_LIMIT ? undefined : limit;
}

/** Pages have at most 64 KiB. */
const LARGEST_LIMIT = ALL_MEMORY - 64n * 1024n;

function sample(usage = NaN, inactive = NaN, guaranteedBytes?: bigint): CgroupSample | undefined {
  if (Number.isNaN(usage) || Number.isNaN(inactive)) return undefined;
  return { usageBytes: BigInt(usage), workingSetBytes: BigInt(Math.max(usage - inactive, 0)), guaranteedBytes };
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
  listed: () => readonly number[] | undefined,
): bigint | undefined {
  const counted = pids && countedBy(pids, path);
  if (counted !== undefined && counted > 0n) return counted;
  const processes = listed();
  return processes && BigInt(processes.length);
}

function countedBy(pids: CgroupHierarchy, path: string): bigint | undefined {
  try {
    return BigInt(readFileSync(`${cgroupDirectory(pids, path)}/pids.current`, 'utf8').trim());
  } catch {
    return undefined;
  }
}
