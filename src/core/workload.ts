/** Why a workload is never evicted. */
export type Protection =
  | { readonly kind: 'critical' }
  /** evictd, or a process that it descends from, lives in it. */
  | { readonly kind: 'self' }
  /** It is not there under its name: it ended, or was renamed. The candidates are read once more. */
  | { readonly kind: 'gone' }
  /** No process lives in it: there is nothing to end. */
  | { readonly kind: 'vacant' }
  /** Its processes cannot be listed: evictd might be among them. */
  | { readonly kind: 'unlisted' }
  /** It contains a protected workload, which would die with it. */
  | { readonly kind: 'contains'; readonly name: string }
  /** Outside the node: evicting it would not help. */
  | { readonly kind: 'outside' }
  /** A kill of it failed a moment ago: another candidate's turn. */
  | { readonly kind: 'kill-failed' };

/** The unit of eviction. */
export interface Workload {
  /** Unique for ever: a cgroup that is removed and made again under the same name is another workload. */
  readonly id: string;
  /** Path below its source's root. */
  readonly name: string;
  /** The cgroup's path as the kernel names it ('/workload.slice/web'). */
  readonly path: string;
  /** Higher is more important; 0 unless a rule says otherwise. */
  readonly priority: number;
  readonly requests: { readonly memory: bigint };
  /** How long the workload may take to end after SIGTERM; undefined: no wish of its own. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** Grows with the time of creation; larger is younger. For cgroups the kernel's cgroup id. */
  readonly startOrder: bigint;
  readonly protection: Protection | undefined;
}

export interface WorkloadUsage {
  readonly workload: Workload;
  /** usage − inactive_file, floored at 0: what the ranking compares. */
  readonly workingSetBytes: bigint;
  readonly usageBytes: bigint;
}

/** A workload that could not be read: left out of the ranking, and said. */
export interface UnreadableWorkload {
  readonly name: string;
  readonly path: string;
  readonly reason: string;
}

export interface Candidates {
  readonly usages: readonly WorkloadUsage[];
  readonly unreadable: readonly UnreadableWorkload[];
  /** A last look at the one that would go, by what lives in it now: to look at all takes long. Left out: nothing is against any. */
  readonly veto?: (workload: Workload) => Protection | undefined;
  /** When the pass over the cgroups was made, monotonic clock. */
  readonly timeNs: bigint;
}
