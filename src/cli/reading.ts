import type { LoadedConfig } from '../config/config.js';
import type { DiskHoldings } from '../core/disk-holding.js';
import type { DiskHolders } from '../core/held-space.js';
import type { FilesystemRole } from '../core/layout.js';
import type { Node, SourceProblem, WorkloadSource } from '../monitor/ports.js';

/** What `run` reads with, opened for one look. */
export interface Reading {
  readonly node: Node;
  readonly workloads: WorkloadSource;
  /**
   * What the cgroup of this path holds on disks, measured now, and what could not be looked at.
   *
   * @param filesystem  whose directories are walked, which may take half a minute
   */
  readonly measureDisks: (filesystem: FilesystemRole) => Promise<{
    readonly of: (path: string) => DiskHoldings;
    /** What holds them, workload or not. */
    readonly holders: DiskHolders;
    readonly problems: readonly SourceProblem[];
  }>;
  readonly close: () => void;
}

/** Throws what `run` would throw: a missing node cgroup, an addon that cannot be loaded. */
export type OpenReading = (loaded: LoadedConfig) => Promise<Reading> | Reading;
