import type { WorkloadUsage } from './workload.js';

/** @param counts  by workload id; undefined: nobody was counted */
export function withProcesses(usages: readonly WorkloadUsage[], counts: ReadonlyMap<string, bigint> | undefined): readonly WorkloadUsage[] {
  if (counts === undefined) return usages;
  return usages.map(({ workload, stats }) => ({ workload, stats: stats && { ...stats, processes: counts.get(workload.id) } }));
}
