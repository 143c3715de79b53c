import { type DiskAmount } from './disk-amount.js';
import type { FilesystemRole } from '../signal/layout.js';

/** A directory with all below it. */
export interface DirectoryAmount {
  /** Absolute, without a trailing slash. */
  readonly path: string;
  readonly amount: DiskAmount;
}

/** The directories of a filesystem down to some depth; small ones are left out. */
export interface FilesystemDirectories {
  /** The whole filesystem. */
  readonly root: DirectoryAmount;
  readonly below: readonly DirectoryAmount[];
  /** When the measurement began (monotonic). */
  readonly atNs: bigint;
  /** The measurement was stopped, or could not read something; the amounts lack that part. */
  readonly isPartial: boolean;
}

export interface HeldSpace {
  readonly deleted: readonly DeletedFilesHolder[];
  /** Left out: not measured. */
  readonly directories?: FilesystemDirectories;
  /** Used by containers. */
  readonly images?: readonly ImageHolder[];
}

/** The space that workloads hold, by filesystem. Left out: not measured. */
export type DiskHolders = Partial<Readonly<Record<FilesystemRole, HeldSpace>>>;

/** What holds space on a filesystem, whether or not an eviction frees it. */
export type DiskHolder = DeletedFilesHolder | DirectoryHolder | ImageHolder;

/** Processes that hold the same deleted files. */
export interface DeletedFilesHolder {
  readonly kind: 'deleted-files';
  readonly holds: DiskAmount;
  /** The first few. */
  readonly processes: readonly HoldingProcess[];
  /** The total number. */
  readonly count: number;
}

export interface HoldingProcess {
  readonly pid: number;
  /** /proc/PID/comm; '': the process has ended. */
  readonly name: string;
  /** undefined: not known. */
  readonly cgroup: string | undefined;
}

/** A directory with all below it, except the named directories below it. */
export interface DirectoryHolder {
  readonly kind: 'directory';
  readonly path: string;
  readonly holds: DiskAmount;
  readonly besidesNamed: boolean;
  /** The age of the measurement. */
  readonly ageNs: bigint;
  /** Some of it could not be read; it holds at least this. */
  readonly isPartial: boolean;
}

/** An image that a container uses, so no collection removes it. It is part of a directory, and may share layers. */
export interface ImageHolder {
  readonly kind: 'image';
  readonly name: string;
  /** Bytes only: runtimes do not report inodes. */
  readonly holds: DiskAmount;
}
