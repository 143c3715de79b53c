import type { EvictionInFlight } from '../decide/eviction.js';
import { jsonBytes } from '../name/json-text.js';
import type { Candidates, Workload } from '../workload/workload.js';
import type { Drain, DrainedWorkload } from './drain.js';

/** The limit in UTF-8. Names and paths of more workloads would take too much of the saved state, whose size is fixed. */
const MAX_NAMED_BYTES = 16 * 1024;

/** What is saved of a drain: not the reasons, which are found again; of a large drain no names and paths either. */
export function briefDrain(drain: Drain): Drain {
  const { pending, unnamed = [] } = drain;
  const named = pending.map(({ waits: _, ...one }) => one);
  if (jsonBytes(named) <= MAX_NAMED_BYTES) return { ...drain, pending: named };
  const brief = pending.map(({ id, decision }) => (decision === undefined ? ([briefId(id)] as const) : ([briefId(id), decision] as const)));
  return { ...drain, pending: [], unnamed: [...unnamed, ...brief], lookedNs: 0n }; // the next evictd looks at once
}

/** Finds the workloads of a large drain again. One that is not found has ended, unless a container runtime has not answered. */
export function relistDrained(
  { pending, unnamed = [] }: Drain,
  { usages, awaitedRuntimes = [] }: Candidates,
  evictions: readonly EvictionInFlight[],
): Required<Pick<Drain, 'pending' | 'unnamed'>> {
  if (unnamed.length === 0) return { pending, unnamed };
  const all = [...usages.map(({ workload }) => workload), ...evictions.map(({ decision: { victim } }) => victim.workload)];
  const workloads = new Map(all.map((workload) => [briefId(workload.id), workload]));
  const found = unnamed.flatMap(([id, decision]) => {
    const workload = workloads.get(id);
    return workload === undefined ? [] : [{ ...drained(workload), ...(decision !== undefined && { decision }) }];
  });
  const missing = unnamed.filter(([id]) => !workloads.has(id));
  return { pending: [...pending, ...found], unnamed: awaitedRuntimes.length > 0 ? missing : [] };
}

export function drained({ id, name, path }: Workload): DrainedWorkload {
  return { id, name, path };
}

/** The cgroup id, which no other cgroup of this boot has; an id without one is kept whole. */
function briefId(id: string): string {
  return id.slice(Math.max(0, id.lastIndexOf('#')));
}
