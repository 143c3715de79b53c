/** A line of the journal, as it stands there. */
type Line = Readonly<Record<string, unknown>>;

/** What the records of runs before say about their decisions. */
export interface DecisionsBefore {
  /** Decisions without an outcome, by their number; those of a dry run have none. */
  readonly unfinished: ReadonlyMap<number, Line>;
  /** Those whose outcome was told. */
  readonly over: ReadonlySet<number>;
  /** The highest number; 0: there was none. */
  readonly last: number;
}

const DECIDED = /^\{"time":"[^"]*","type":"(?:decision|outcome)"/;

/** @param texts  in the order in which they were written */
export function decisionsBefore(texts: readonly string[]): DecisionsBefore {
  const unfinished = new Map<number, Line>();
  const over = new Set<number>();
  let last = 0;
  for (const text of texts) {
    if (!DECIDED.test(text)) continue;
    const line = JSON.parse(text) as Line;
    const { decision } = line;
    if (typeof decision !== 'number') continue;
    last = Math.max(last, decision);
    if (line.type === 'outcome') {
      unfinished.delete(decision);
      over.add(decision);
    } else {
      over.delete(decision);
      if (line.dryRun !== true) unfinished.set(decision, line);
    }
  }
  return { unfinished, over, last };
}
