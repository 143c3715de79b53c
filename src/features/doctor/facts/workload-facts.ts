/** One entry of `workloads`. */
export interface SourceFacts {
  /** Its key: 'workloads[0]'. */
  readonly key: string;
  /** '/workload.slice' */
  readonly text: string;
  readonly workloads: number;
  /** Workloads that exist but cannot be read. */
  readonly unreadable: number;
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint?: string }[];
}

export interface ListedWorkload {
  readonly name: string;
  readonly path: string;
  /** Why evictd does not evict it; undefined: it may. */
  readonly hindrance: string | undefined;
}

/** A notice of `config check` on this machine. */
export interface LintFacts {
  readonly level: 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export interface WorkloadFacts {
  readonly sources: readonly SourceFacts[];
  /** Of all sources. */
  readonly listed: readonly ListedWorkload[];
  /** File descriptors per workload. */
  readonly filesEach: number;
  readonly notices: readonly LintFacts[];
}
