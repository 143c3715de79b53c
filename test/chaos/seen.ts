/**
 * What the driver did and saw, in order. `at`: wall clock in milliseconds. `workload`: the inode of its cgroup, which
 * neither a new name nor a cgroup of the same name changes.
 */
export type Seen = { readonly at: number } & (
  | { readonly kind: 'action'; readonly what: string }
  | { readonly kind: 'workload'; readonly workload: string; readonly name: string; readonly protected: boolean }
  /** `at`: before its start. */
  | { readonly kind: 'process'; readonly workload: string; readonly pid: number }
  /** `sent`: the driver sent it a signal. */
  | { readonly kind: 'ended'; readonly workload: string; readonly pid: number; readonly signal: string | null; readonly sent: boolean }
  /** The kernel's OOM killer has killed `count` processes of it since `since`. */
  | { readonly kind: 'kernel-kills'; readonly workload: string; readonly count: number; readonly since: number }
  /** `lost`: it ended, and the driver had not ended it. */
  | { readonly kind: 'evictd'; readonly state: 'guards' | 'stopped' | 'dead' | 'lost' }
);

/** What the checker has to know of a run. */
export interface Promised {
  readonly seed: number;
  readonly budget: { readonly max: number; readonly windowMs: number };
  /** The wall clock minus CLOCK_MONOTONIC, in milliseconds. */
  readonly clockOffsetMs: number;
  /** The workload that evictd has to evict at the end. */
  readonly last: string;
}
