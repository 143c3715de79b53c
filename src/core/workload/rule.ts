import type { PreemptionPolicy } from '../disruption/priority-class.js';
import type { Toleration } from '../disruption/toleration.js';
import type { WorkloadDirectory } from './workload-directory.js';

/** A rule of the operator about workloads, in the configured order. */
export interface Rule {
  readonly match: {
    readonly name?: string;
    readonly path?: string;
    /** Patterns for the values of labels from a container runtime. All must match. */
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly critical?: boolean;
  /** With `critical: false` and the full name of a unit it lifts the unit's built-in protection. */
  readonly liftProtection?: boolean;
  /** Written, or that of its class. */
  readonly priority?: number;
  readonly priorityClass?: string;
  /** Of its class. */
  readonly preemptionPolicy?: PreemptionPolicy;
  readonly requestsMemory?: bigint;
  readonly terminationGracePeriodNs?: bigint;
  readonly directories?: readonly WorkloadDirectory[];
  readonly tolerations?: readonly Toleration[];
}
