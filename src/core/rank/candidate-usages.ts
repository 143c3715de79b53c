import { ofResource } from '../disk/disk-holding.js';
import { type DiskAmount, type DiskHolding, type DiskHoldings } from '../disk/disk-amount.js';
import type { DiskHolders } from '../disk/filesystem-holders.js';
import { filesystemOf, isDiskSignal, SIGNAL_FACTS, type ResourceSignal } from '../signal/signal.js';
import type { Candidates, WorkloadStats, WorkloadUsage } from '../workload/workload.js';

/**
 * What the ranking for a signal needs. Process counts and holdings on disks are costly, so they are read only for their
 * signals.
 */
export function usagesFor(signal: ResourceSignal, { usages, processes, holdings }: Candidates): readonly WorkloadUsage[] {
  if (SIGNAL_FACTS[signal].resource === 'pids') return withProcesses(usages, processes?.());
  return isDiskSignal(signal) ? withHoldings(usages, holdings) : usages;
}

/** @param counts  by workload id; undefined: processes were not counted */
export function withProcesses(usages: readonly WorkloadUsage[], counts: ReadonlyMap<string, bigint> | undefined): readonly WorkloadUsage[] {
  if (counts === undefined) return usages;
  return usages.map(({ workload, stats }) => ({ workload, stats: stats && { ...stats, processes: counts.get(workload.id) } }));
}

/** @param holdings  by path; undefined: holdings are not measured */
export function withHoldings(usages: readonly WorkloadUsage[], holdings: Candidates['holdings']): readonly WorkloadUsage[] {
  if (holdings === undefined) return usages;
  return usages.map(({ workload, stats }) => ({ workload, stats: stats && { ...stats, disks: holdings(workload.path) } }));
}

/** The candidates, with a source for what each holds on disks. */
export function withDisks(found: Candidates, holdings: (path: string) => DiskHoldings, holders?: DiskHolders): Candidates {
  return { ...found, ...(holders && { holders }), holdings };
}

/** What a workload holds on the disk of a signal; undefined: nothing, or it is being measured. */
export function holdingOn(signal: ResourceSignal, stats: WorkloadStats | undefined): DiskHolding | undefined {
  const filesystem = filesystemOf(signal);
  const holding = filesystem === undefined ? undefined : stats?.disks?.[filesystem];
  return typeof holding === 'object' ? holding : undefined;
}

/** The bytes or the inodes of an amount, whichever the signal counts. */
export function countedBy(signal: ResourceSignal, amount: DiskAmount): bigint {
  return ofResource(SIGNAL_FACTS[signal].resource, amount);
}
