/**
 * The records that a human needs after an incident: evictions, what else ended workloads on this node, and the runs of
 * evictd. Without `ranking`, which may be large; a decision has the neighbours of its victim.
 */
const EVICTION = /^\{"time":"[^"]*","type":"(?:start|decision|escalation|outcome|shutdown|ended|kernel-oom)"/;
/** A program can cause any number of OOM kills by a limit of its own. */
const OF_A_LIMIT = /^\{"time":"[^"]*","type":"kernel-oom"/;
/** No string contains it: there its quotation marks are escaped. */
const OCCURRENCE = /,"occurrence":(\d+)[,}]/;

/** Whether a line of the journal belongs to those of evictions. */
export function isEvictionRecord(line: string): boolean {
  if (!EVICTION.test(line)) return false;
  return !OF_A_LIMIT.test(line) || (JSON.parse(line) as { readonly limit?: unknown }).limit === 'node';
}

/**
 * Whether a line is also written to `evictions.jsonl`: of a series (occurrences.ts) the 1st, 2nd, 4th, 8th, … So a
 * workload that is evicted n times adds at most log2(n) + 1 evictions, and pushes no older one out.
 */
export function isKeptRecord(line: string): boolean {
  const occurrence = Number(OCCURRENCE.exec(line)?.[1] ?? 1);
  return Number.isInteger(Math.log2(occurrence)) && isEvictionRecord(line);
}
