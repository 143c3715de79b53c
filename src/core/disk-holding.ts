import type { DiskHolders } from './held-space.js';
import type { FilesystemRole } from './layout.js';
import { isDiskSignal, SIGNAL_FACTS, type Resource, type ResourceSignal } from './signal.js';
import type { Candidates, WorkloadStats, WorkloadUsage } from './workload.js';

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

/** 'nodefs.available' → 'nodefs'. */
export function filesystemOf(signal: Parameters<typeof isDiskSignal>[0]): FilesystemRole | undefined {
  return isDiskSignal(signal) ? (signal.slice(0, signal.indexOf('.')) as FilesystemRole) : undefined;
}

/** Of a disk signal, for a workload of which holdings are measured; undefined: there is none, or it is being measured. */
export function holdingOn(signal: ResourceSignal, stats: WorkloadStats | undefined): DiskHolding | undefined {
  const filesystem = filesystemOf(signal);
  const holding = filesystem === undefined ? undefined : stats?.disks?.[filesystem];
  return typeof holding === 'object' ? holding : undefined;
}

/** What of an amount a disk signal counts. */
export function countedBy(signal: ResourceSignal, amount: DiskAmount): bigint {
  return ofResource(SIGNAL_FACTS[signal].resource, amount);
}

/** What of an amount is of this resource. */
export function ofResource(resource: Resource, { bytes, inodes }: DiskAmount): bigint {
  return resource === 'inodes' ? inodes : bytes;
}

/** The candidates, of whom what each holds can be asked. */
export function withDisks(found: Candidates, holdings: (path: string) => DiskHoldings, holders?: DiskHolders): Candidates {
  return { ...found, ...(holders && { holders }), holdings };
}

/**
 * With what each holds; who has no statistics has none of this either.
 *
 * @param holdings  by path; undefined: nobody measures that
 */
export function withHoldings(usages: readonly WorkloadUsage[], holdings: Candidates['holdings']): readonly WorkloadUsage[] {
  if (holdings === undefined) return usages;
  return usages.map(({ workload, stats }) => ({ workload, stats: stats && { ...stats, disks: holdings(workload.path) } }));
}
