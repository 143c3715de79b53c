import type { Observation } from '../signal/observation.js';

/** Why a policy acts. */
export interface PolicyReason {
  /** Its name. */
  readonly policy: string;
  /** Path of the cgroup; '': the node. */
  readonly scope: string;
  /** The condition as text: 'memory.pressure.full > 40%'. */
  readonly condition: string;
  /** What the condition's metrics were: 'memory.pressure.full' to 0.452. A missing one was not known. */
  readonly values: Readonly<Record<string, number>>;
  /** The readings as text: 'memory.pressure.full 45.2%, memory.available 1.2GiB'. Left out: none was known. */
  readonly readings?: string;
}

/** A step of a policy's ladder evicts. */
export interface PolicyCause extends PolicyReason {
  readonly kind: 'policy';
  /** Between SIGTERM and SIGKILL at most; 0: SIGKILL at once. */
  readonly graceNs: bigint;
  /** The node's memory.available then. Left out: not known. */
  readonly memory?: Observation;
  /**
   * What tells whether the eviction freed enough. `swap`: the victim's swap, because the condition is about swap (judgeOf).
   * `cgroup`: the usage of its cgroup, because the shortage is in a cgroup. Left out: the node's memory.
   */
  readonly judgedBy?: 'swap' | 'cgroup';
}
