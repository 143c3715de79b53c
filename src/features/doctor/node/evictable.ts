import { broken, ok, type Check, type Detail } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ListedWorkload, WorkloadFacts } from '../facts/workload-facts.js';

const ID = 'workloads.evictable';

/** Codes of lint (docs/lint.md) for a configuration that evicts nothing. */
export const NOTHING_EVICTABLE: readonly string[] = [
  'EVICTD_LINT_NO_THRESHOLD',
  'EVICTD_WORKLOADS_NONE',
  'EVICTD_LINT_ALL_CRITICAL',
  'EVICTD_LINT_NOTHING_EVICTABLE',
];

/** Whether evictd could evict a workload at all. */
export function checkEvictable({ listed, notices, sources }: WorkloadFacts): Check {
  const free = listed.filter(({ hindrance }) => hindrance === undefined);
  const details = { workloads: listed.length, evictable: free.length, protected: byReason(listed) };
  const nothing = notices.find(({ code }) => NOTHING_EVICTABLE.includes(code));
  if (nothing) {
    return broken(ID, `NOTHING IS EVICTABLE: ${nothing.message}`, nothing.hint ?? 'see evictd config check', {
      ...details,
      code: nothing.code,
    });
  }
  const kept = Object.entries(byReason(listed))
    .map(([reason, count]) => `${String(count)} × ${reason}`)
    .join(', ');
  if (free.length === 0) {
    const missing = sources.flatMap(({ problems }) => problems)[0];
    const reason = missing?.message ?? (kept === '' ? 'no workload exists' : kept);
    return broken(ID, `NOTHING IS EVICTABLE: ${reason}`, missing?.hint ?? 'see evictd rank', details);
  }
  const rest = kept === '' ? '' : `; not evictable: ${kept}`;
  return ok(ID, `${String(free.length)} of ${String(listed.length)} workloads can be evicted${rest}`, details);
}

function byReason(listed: readonly ListedWorkload[]): Readonly<Record<string, Detail & number>> {
  const counts: Record<string, number> = {};
  for (const { hindrance } of listed) if (hindrance !== undefined) counts[hindrance] = (counts[hindrance] ?? 0) + 1;
  return counts;
}

export const evictableCheck = defineCheck(ID, ['workloads'], ({ workloads }) => checkEvictable(workloads));
