import type { Signal } from './signal.js';

/** One reading of a signal. Bytes, inodes or processes; `available` is floored at 0 on a machine, and may be below it in a kubelet's summary. */
export interface Observation {
  readonly available: bigint;
  readonly capacity: bigint;
  /** When it was read, on the clock of the source; undefined: the source does not say, which counts as newer than any. */
  readonly timeNs: bigint | undefined;
  /** Where the numbers come from, for people: 'memory.usage_in_bytes − inactive_file of /web'. */
  readonly source: string;
}

/** What one pass over the node gave. A signal stands in exactly one of these. */
export interface Observations {
  readonly observed: ReadonlyMap<Signal, Observation>;
  /** Why there is no reading: missing data is not zero. */
  readonly missing: ReadonlyMap<Signal, string>;
  /** Why this node does not have the signal at all (inodes of a btrfs): nothing is wrong, and its thresholds are never met. Left out: none. */
  readonly absent?: ReadonlyMap<Signal, string>;
}
