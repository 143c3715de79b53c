import { countedBy, holdingOn } from './candidate-usages.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';
import { SIGNAL_FACTS, type ResourceSignal, filesystemOf } from '../signal/signal.js';
import type { Protection, Workload, WorkloadStats } from '../workload/workload.js';

export type Shortfall = Pick<ThresholdCause, 'threshold' | 'observation' | 'limit'>;

/** An eviction must free at least this part of what is missing, … */
const OF_MISSING = 20n;
/** … and of the threshold: just after the crossing next to nothing is missing. */
const OF_LIMIT = 100n;

/** What evicting a machine workload must free on a disk or of process ids, in the unit of the signal; at least 1. */
export function minYield({ limit, observation }: Omit<Shortfall, 'threshold'>): bigint {
  const parts = [part(limit - observation.available, OF_MISSING), part(limit, OF_LIMIT)];
  return parts.reduce((most, least) => (least > most ? least : most), 1n);
}

/** Rounded up. */
function part(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}

/**
 * Why evicting a machine workload does not help; undefined: it does, or it is a pod, whose files are removed.
 * Unmeasured workloads do not help on a disk.
 *
 * @param least  what it must free; left out: anything
 */
export function withoutRelief(
  signal: ResourceSignal,
  { pod }: Workload,
  stats: WorkloadStats | undefined,
  least?: bigint,
): Protection | undefined {
  if (pod !== undefined) return undefined;
  const filesystem = filesystemOf(signal);
  if (filesystem === undefined) {
    const processes = SIGNAL_FACTS[signal].resource === 'pids' ? stats?.processes : undefined;
    return processes !== undefined && least !== undefined && processes < least ? { kind: 'frees-nothing' } : undefined;
  }
  if (stats?.disks?.[filesystem] === 'measuring') return { kind: 'measuring', filesystem };
  const holding = holdingOn(signal, stats);
  const frees = holding ? countedBy(signal, holding.frees) : 0n;
  if (frees >= (least ?? 1n)) return undefined;
  return { kind: 'frees-nothing', filesystem, ...(frees > 0n && { little: true }) };
}
