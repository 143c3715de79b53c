import type { FilesystemRole } from '../signal/layout.js';

/** Allocated bytes and inodes. */
export interface DiskAmount {
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/** The space that a machine workload holds on a filesystem, as last measured. */
export interface DiskHolding {
  readonly uses: DiskAmount;
  /** The part that its eviction frees. */
  readonly frees: DiskAmount;
  /** When the measurement began (monotonic). */
  readonly atNs: bigint;
}

/** 'measuring': not known yet, or outdated. Left out: nothing, or it cannot be measured. */
export type DiskHoldings = Partial<Readonly<Record<FilesystemRole, DiskHolding | 'measuring'>>>;

export const NOTHING_ON_DISK: DiskAmount = { bytes: 0n, inodes: 0n };
