/** One entry of `workloads`, alone. */
export interface SourceFacts {
  /** Its key: 'workloads[0]'. */
  readonly key: string;
  /** What was written, in short: '/workload.slice'. */
  readonly text: string;
  readonly workloads: number;
  /** There, and cannot be read. */
  readonly unreadable: number;
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint?: string }[];
}

/** Somebody whom a source names, and why he is not evicted; undefined: he may be. */
export interface ListedWorkload {
  readonly name: string;
  readonly path: string;
  readonly hindrance: string | undefined;
}

/** What `config check` says about this configuration on this machine. */
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
  /** How many descriptors one takes. */
  readonly filesEach: number;
  readonly notices: readonly LintFacts[];
}
