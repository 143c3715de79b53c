import type { EvictionInFlight } from '../decide/eviction.js';
import type { Candidates, Workload } from '../workload/workload.js';
import type { Drain, DrainedWorkload } from './drain.js';

/** With names and paths more than these need too much of the saved state, whose size is fixed. */
const MOST_NAMED = 100;

/** What is saved: without the reasons, which are found again, and of a large drain without names and paths. */
export function briefDrain(drain: Drain): Drain {
  const { pending, unnamed = [] } = drain;
  if (pending.length <= MOST_NAMED) return { ...drain, pending: pending.map(({ waits: _, ...one }) => one) };
  const brief = pending.map(({ id, decision }) => (decision === undefined ? ([briefId(id)] as const) : ([briefId(id), decision] as const)));
  return { ...drain, pending: [], unnamed: [...unnamed, ...brief], lookedNs: 0n }; // the next evictd looks at once
}

/** Finds the workloads of a large drain again. What is not found has ended, unless a container runtime has not answered. */
export function namedAgain(
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

/** The cgroup id, which no other cgroup of this boot has; else the whole. */
function briefId(id: string): string {
  return id.slice(Math.max(0, id.lastIndexOf('#')));
}
