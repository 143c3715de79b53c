import type { FilesystemRole } from './layout.js';
import type { Resource } from './resource.js';

/** Allocated bytes, and inodes. */
export interface DiskAmount {
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/** What a machine workload has on a filesystem, as last measured. */
export interface DiskHolding {
  readonly uses: DiskAmount;
  /** Of that, what comes back when it is evicted. */
  readonly frees: DiskAmount;
  /** When measuring began, monotonic clock. */
  readonly atNs: bigint;
}

/** By filesystem; 'measuring': not known yet, or too long ago, and known soon. Not there: it has nothing on it, or that cannot be told. */
export type DiskHoldings = Partial<Readonly<Record<FilesystemRole, DiskHolding | 'measuring'>>>;

export const NOTHING_ON_DISK: DiskAmount = { bytes: 0n, inodes: 0n };

/** What of an amount is of this resource. */
export function ofResource(resource: Resource, { bytes, inodes }: DiskAmount): bigint {
  return resource === 'inodes' ? inodes : bytes;
}
