import type { Signal } from './signal.js';

/**
 * One reading of a signal. `available` is at least 0 on a machine; in a kubelet's summary it may be negative. For a
 * pressure signal it is the lost share of the wall time in billionths, and `capacity` is all of it.
 */
export interface Observation {
  readonly available: bigint;
  readonly capacity: bigint;
  /** The time by the source's clock; undefined: not reported, which counts as newer than any time. */
  readonly timeNs: bigint | undefined;
  /** The source of the value, for people: 'memory.usage_in_bytes − inactive_file of /web'. */
  readonly source: string;
  /** Pressure: the kernel's average was used because the share is not known. */
  readonly standIn?: 'avg10';
}

/** One pass over the node. Each signal is in exactly one map. */
export interface Observations {
  readonly observed: ReadonlyMap<Signal, Observation>;
  /** Why there is no reading. Missing data is not zero. */
  readonly missing: ReadonlyMap<Signal, string>;
  /** Why this node cannot have the signal (inodes of a btrfs). Its thresholds are never met. Left out: none. */
  readonly absent?: ReadonlyMap<Signal, string>;
  /** Why there is no reading yet: a share of time needs two. Left out: none. */
  readonly pending?: ReadonlyMap<Signal, string>;
}
