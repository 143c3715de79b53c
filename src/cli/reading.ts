import type { LoadedConfig } from '../config/config.js';
import type { Node, WorkloadSource } from '../monitor/ports.js';

/** What `run` reads with, opened for one look. */
export interface Reading {
  readonly node: Node;
  readonly workloads: WorkloadSource;
  readonly close: () => void;
}

/** Throws what `run` would throw: a missing node cgroup, an addon that cannot be loaded. */
export type OpenReading = (loaded: LoadedConfig) => Promise<Reading> | Reading;
