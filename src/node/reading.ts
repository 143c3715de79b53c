import { FILESYSTEM_TIMEOUT_MS, Timeouts } from './timeouts.js';
import type { LoadedConfig } from '../config/config.js';
import type { DiskHoldings } from '../core/disk/disk-amount.js';
import type { DiskHolders } from '../core/disk/filesystem-holders.js';
import type { FilesystemRole } from '../core/signal/layout.js';
import type { Node, SourceProblem, WorkloadSource } from '../monitor/ports/ports.js';

/** The node and its workloads, opened for one sample. */
export interface Reading {
  readonly node: Node;
  readonly workloads: WorkloadSource;
  /**
   * Measures the disk usage of workloads.
   *
   * @param filesystem  the filesystem to walk, which may take half a minute
   */
  readonly measureDisks: (filesystem: FilesystemRole) => Promise<{
    readonly of: (path: string) => DiskHoldings;
    /** What uses the filesystem, workload or not. */
    readonly holders: DiskHolders;
    readonly problems: readonly SourceProblem[];
  }>;
  readonly close: () => void;
}

/** Throws what `run` throws, e.g. if the node cgroup is missing or the addon cannot be loaded. */
export type OpenReading = (loaded: LoadedConfig) => Promise<Reading> | Reading;

/**
 * Resolves when every filesystem has answered, at the latest after {@link FILESYSTEM_TIMEOUT_MS}: one that hangs stays
 * unread.
 */
export async function filesystemsRead(node: Node): Promise<void> {
  await new Timeouts().within(
    FILESYSTEM_TIMEOUT_MS,
    () =>
      new Promise<void>((resolve) => {
        node.requestFilesystems((outstanding) => {
          if (outstanding === 0) resolve();
        });
      }),
  );
}
