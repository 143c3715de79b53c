import { withHoldings } from './disk-holding.js';
import { withProcesses } from './process-count.js';
import { isDiskSignal, SIGNAL_FACTS, type ResourceSignal } from './signal.js';
import type { Candidates, WorkloadUsage } from './workload.js';

/** What a ranking for the signal looks at: with how many process ids each has, or what it holds on disks, which is asked only then. */
export function usagesFor(signal: ResourceSignal, { usages, processes, holdings }: Candidates): readonly WorkloadUsage[] {
  if (SIGNAL_FACTS[signal].resource === 'pids') return withProcesses(usages, processes?.());
  return isDiskSignal(signal) ? withHoldings(usages, holdings) : usages;
}
