/**
 * The records that a human needs after an incident, and that no program can write in quantity: evictions, what else ended
 * workloads on this node, and the runs of evictd. Without `ranking`, which may be large; a decision has the neighbours
 * of its victim.
 */
const KEPT = /^\{"time":"[^"]*","type":"(?:start|decision|escalation|outcome|shutdown|ended|kernel-oom)"/;
/** A program can cause any number of OOM kills by a limit of its own. */
const OF_A_LIMIT = /^\{"time":"[^"]*","type":"kernel-oom"/;

/** Whether a line of the journal is also written to `evictions.jsonl`. */
export function isEvictionRecord(line: string): boolean {
  if (!KEPT.test(line)) return false;
  return !OF_A_LIMIT.test(line) || (JSON.parse(line) as { readonly limit?: unknown }).limit === 'node';
}
