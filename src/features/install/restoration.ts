export interface EvictdDirectories {
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly journal: { readonly maxBytes: number; readonly maxFiles: number };
}

/** The result of restoring what ended evictd processes have changed, a phrase each. */
export interface Restoration {
  /** 'oom_score_adj of 3 processes' */
  readonly restored: readonly string[];
  /** What could not be restored, with the reason and what to do. */
  readonly owed: readonly string[];
  /** A directory does not answer and blocks a thread. */
  readonly hangs: boolean;
}
