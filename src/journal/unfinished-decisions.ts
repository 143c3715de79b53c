type Line = Readonly<Record<string, unknown>>;

/** The decisions in the records of earlier runs. */
export interface EarlierDecisions {
  /** By number: decisions without an outcome. A dry run's are left out. */
  readonly unfinished: ReadonlyMap<number, Line>;
  readonly over: ReadonlySet<number>;
  /** The highest number; 0: there was none. */
  readonly last: number;
}

const DECIDED = /^\{"time":"[^"]*","type":"(?:decision|outcome)"/;

/** @param texts  in the order of writing */
export function earlierDecisions(texts: readonly string[]): EarlierDecisions {
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
