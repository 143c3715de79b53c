import { countedBy, holdingOn } from './usages.js';
import type { ThresholdCause } from './eviction.js';
import { SIGNAL_FACTS, type ResourceSignal, filesystemOf } from './signal.js';
import type { Protection, Workload, WorkloadStats } from './workload.js';

/** What is short, and by how much. */
export type Shortfall = Pick<ThresholdCause, 'threshold' | 'observation' | 'limit'>;

/** An eviction gives back at least this part of what is missing, … */
const OF_MISSING = 20n;
/** … and of the threshold: when it has just been crossed, next to nothing is missing. */
const OF_LIMIT = 100n;

/** What an eviction of a machine workload for a disk or for process ids has to give back to be worth it, in the unit of the signal; at least 1. */
export function leastYield({ limit, observation }: Omit<Shortfall, 'threshold'>): bigint {
  const parts = [part(limit - observation.available, OF_MISSING), part(limit, OF_LIMIT)];
  return parts.reduce((most, least) => (least > most ? least : most), 1n);
}

/** Rounded up. */
function part(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}

/**
 * Why evicting a machine workload does not help, as on a disk of which nothing is known of it; undefined: it does, or it is a pod, whose files go with it.
 *
 * @param least  what it has to give back; left out: anything, which process ids always are
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
