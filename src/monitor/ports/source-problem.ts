export interface SourceProblem {
  /** The cgroup in which the source is looked for; left out: all. */
  readonly root?: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}
