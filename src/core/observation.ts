import type { Signal } from './signal.js';

/**
 * One reading of a signal. Bytes, inodes or processes; `available` is floored at 0 on a machine, and may be below it in a kubelet's summary. Of a pressure
 * signal `available` is the share of the wall time that was lost, in billionths, and `capacity` all of it.
 */
export interface Observation {
  readonly available: bigint;
  readonly capacity: bigint;
  /** When it was read, on the clock of the source; undefined: the source does not say, which counts as newer than any. */
  readonly timeNs: bigint | undefined;
  /** Where the numbers come from, for people: 'memory.usage_in_bytes − inactive_file of /web'. */
  readonly source: string;
  /** Pressure: microseconds lost since the kernel or the cgroup was started (`total=`). */
  readonly stalledUs?: bigint;
  /** What stands for the share that was asked for, where that is not known: the kernel's average. */
  readonly standIn?: 'avg10';
}

/** What one pass over the node gave. A signal stands in exactly one of these. */
export interface Observations {
  readonly observed: ReadonlyMap<Signal, Observation>;
  /** Why there is no reading: missing data is not zero. */
  readonly missing: ReadonlyMap<Signal, string>;
  /** Why this node does not have the signal at all (inodes of a btrfs): nothing is wrong, and its thresholds are never met. Left out: none. */
  readonly absent?: ReadonlyMap<Signal, string>;
  /** Why there is no reading yet, and soon will be: a share of time needs two. Nothing is wrong. Left out: none. */
  readonly pending?: ReadonlyMap<Signal, string>;
}
