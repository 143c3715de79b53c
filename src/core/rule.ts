import type { WorkloadDirectory } from './workload-directory.js';

/** What the operator says about workloads. Rules stand in the order written. */
export interface Rule {
  readonly match: {
    readonly name?: string;
    readonly path?: string;
    /** Patterns of the values of labels that a container runtime tells of; all of them must match. */
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly critical?: boolean;
  /** Together with `critical: false` and the full name of a unit: it may be evicted though it is on the list of the protected. */
  readonly liftProtection?: boolean;
  readonly priority?: number;
  readonly requestsMemory?: bigint;
  readonly terminationGracePeriodNs?: bigint;
  readonly directories?: readonly WorkloadDirectory[];
}
