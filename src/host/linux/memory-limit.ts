/** A memory threshold of the configuration, resolved: wake when less than `bytes` are available. */
export interface MemoryLimit {
  /** Tells the thresholds of one configuration apart. */
  readonly id: string;
  readonly bytes: bigint;
}
