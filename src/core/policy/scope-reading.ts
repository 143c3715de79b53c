import type { RawValue } from './raw-value.js';

/**
 * What was read of one scope in one pass. A value that is missing does not exist there (no limit, no swap, a kernel
 * without it). A scope that could not be read has no reading.
 */
export interface ScopeReading {
  /** The path of the cgroup, below the mount; the node: ''. */
  readonly path: string;
  /** The id of the cgroup: a new cgroup of the same path has another id. Left out: the node. */
  readonly id?: bigint;
  /** Monotonic. */
  readonly timeNs: bigint;
  readonly values: ReadonlyMap<RawValue, number>;
}

/** One pass for all policies. */
export interface PolicyReadings {
  /** undefined: no policy needs it, or it could not be read. */
  readonly node?: ScopeReading;
  /** The cgroups that the pattern of a policy matches now, by name of the policy, in the order of their paths. */
  readonly scopes: ReadonlyMap<string, readonly ScopeReading[]>;
  /** The cgroups that conditions name and that exist. Left out: none is named, or they are not known. */
  readonly named?: readonly ScopeReading[];
}
