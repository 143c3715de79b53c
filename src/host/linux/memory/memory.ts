import { usedLimit } from '../../../core/signal/memcg.js';
import type { FileSpec, FileSum } from '../../../native/binding.js';
import { valueOf } from '../sampling/file-sum.js';
import type { KernelSource, Missing } from '../sampling/kernel-source.js';

/** A node's memory in bytes. available = capacity − used; used = usage − reclaimable; both at least 0. */
export interface MemoryReading {
  readonly capacity: bigint;
  /** What a threshold of cgroup v1 is compared with. */
  readonly usage: bigint;
  /**
   * The part of the usage that counts as available. Less than 0: memory that is not part of the usage counts as used.
   */
  readonly reclaimable: bigint;
  /** Anonymous and file pages by the statistics that `reclaimable` is from. Left out: usage is from them, too. */
  readonly pages?: bigint;
}

/** The statistics of a cgroup (memory.stat). */
export interface Statistics {
  readonly directory: string;
  readonly version: 1 | 2;
  /** The numbers of the cgroup itself that `reclaimableOf` needs, in its order. */
  readonly keys: readonly string[];
  readonly reclaimableOf: (counts: readonly number[]) => bigint;
  /** Pages − usage, for the native layer. */
  readonly explained: FileSum;
}

/**
 * What the native layer samples and compares. It rises while memory fills.
 *
 * `used`: the used memory. `free`: used − capacity, which is −1 × the available memory, where the capacity is in the same
 * file. A balloon takes capacity and available memory alike, so that what is used shows nothing of it.
 */
export interface SampledMemory extends FileSum {
  readonly counts: 'used' | 'free';
}

export interface MemorySource extends KernelSource<MemoryReading | Missing> {
  /** Statistics that may be behind the usage. */
  readonly statistics?: Statistics;
  /** The description for people. */
  readonly description: string;
  readonly sampled: SampledMemory;
  /** The kernel's own memory counts as used, as in MemAvailable and in a cgroup. Left out: as available. */
  readonly countsKernelMemory?: true;
}

export const meminfo = (...keys: string[]): FileSpec => ({ path: '/proc/meminfo', format: 'keyed', keys });

/** The used memory − what the native layer samples. */
function offsetOf({ counts }: Pick<SampledMemory, 'counts'>, capacity: bigint): bigint {
  return counts === 'used' ? 0n : capacity;
}

/** The used memory by the fields of the sampled files. */
export function usedIn(sampled: SampledMemory, fields: Float64Array, capacity: bigint): bigint {
  return BigInt(valueOf(sampled, fields)) + offsetOf(sampled, capacity);
}

/** What the native layer would have sampled at this reading. */
export function sampledAt(sampled: Pick<SampledMemory, 'counts'>, { capacity, usage, reclaimable }: MemoryReading): bigint {
  return usage - reclaimable - offsetOf(sampled, capacity);
}

/** The sampled value from which less than `threshold` bytes are available. */
export function sampledLimit(sampled: Pick<SampledMemory, 'counts'>, capacity: bigint, threshold: bigint): bigint {
  return sampled.counts === 'used' ? usedLimit(capacity, threshold) : 1n - threshold;
}

/** usage − reclaimable, at least 0. */
export function usedOf({ usage, reclaimable }: MemoryReading): bigint {
  return usage > reclaimable ? usage - reclaimable : 0n;
}

/** The available bytes, at least 0. */
export function availableOf(reading: MemoryReading): bigint {
  const available = reading.capacity - usedOf(reading);
  return available > 0n ? available : 0n;
}

/** The `low` watermark of a machine of that size (mm/page_alloc.c, init_per_zone_wmark_min and __setup_per_zone_wmarks). */
export function lowWatermark(capacity: number): number {
  const KIB = 1024;
  const minKib = Math.min(Math.max(Math.floor(Math.sqrt((capacity / KIB) * 16)), 128), 262_144);
  return minKib * KIB * 1.25;
}
