/** Where an evictd keeps what it owes, and what of it goes on to the journal. */
export interface EvictdDirectories {
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly journal: { readonly maxBytes: number; readonly maxFiles: number };
}

/** What became of what evictds have left in a runtime directory that ended without giving it back: a phrase each. */
export interface Restoration {
  /** 'oom_score_adj of 3 processes' */
  readonly restored: readonly string[];
  /** What is still owed, with the reason and what to do about it. */
  readonly owed: readonly string[];
  /** A directory does not answer, and keeps a thread. */
  readonly hangs: boolean;
}
