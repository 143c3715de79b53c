import { degraded, ok, broken, type Detail } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { ListedWorkload } from '../machine-facts.js';

/** The workloads of each source; a workload of two sources counts in both. */
export const sourcesCheck = defineCheck('workloads[N]', ['workloads'], ({ workloads: { sources } }, pattern) => {
  return sources.map(({ key, text, workloads, unreadable, problems }, index) => {
    const id = pattern.replace('N', String(index));
    const details = { source: text, key, workloads, unreadable, problems: problems.map(({ code, message }) => ({ code, message })) };
    const [problem] = problems;
    if (problem) return degraded(id, problem.message, problem.hint ?? 'see evictd rank', details);
    if (unreadable > 0) {
      const summary = `${text}: ${String(workloads)} workloads, and ${String(unreadable)} that evictd cannot read and never evicts`;
      return degraded(id, summary, 'run evictd as root; evictd rank lists them with the reasons', details);
    }
    if (workloads === 0)
      return degraded(id, `${text}: no workload exists now`, 'nothing if its workloads start later: evictd finds them then', details);
    return ok(id, `${text}: ${String(workloads)} ${workloads === 1 ? 'workload' : 'workloads'}`, details);
  });
});

/** Codes of lint (docs/lint.md) for a configuration that evicts nothing. */
export const NOTHING_EVICTABLE: readonly string[] = [
  'EVICTD_LINT_NO_THRESHOLD',
  'EVICTD_WORKLOADS_NONE',
  'EVICTD_LINT_ALL_CRITICAL',
  'EVICTD_LINT_NOTHING_EVICTABLE',
];

/** Whether evictd could evict a workload at all. */
export const evictableCheck = defineCheck('workloads.evictable', ['workloads'], ({ workloads: { listed, notices, sources } }, id) => {
  const free = listed.filter(({ hindrance }) => hindrance === undefined);
  const details = { workloads: listed.length, evictable: free.length, protected: byReason(listed) };
  const nothing = notices.find(({ code }) => NOTHING_EVICTABLE.includes(code));
  if (nothing) {
    return broken(id, `NOTHING IS EVICTABLE: ${nothing.message}`, nothing.hint ?? 'see evictd config check', {
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
    return broken(id, `NOTHING IS EVICTABLE: ${reason}`, missing?.hint ?? 'see evictd rank', details);
  }
  const rest = kept === '' ? '' : `; not evictable: ${kept}`;
  return ok(id, `${String(free.length)} of ${String(listed.length)} workloads can be evicted${rest}`, details);
});

function byReason(listed: readonly ListedWorkload[]): Readonly<Record<string, Detail & number>> {
  const counts: Record<string, number> = {};
  for (const { hindrance } of listed) if (hindrance !== undefined) counts[hindrance] = (counts[hindrance] ?? 0) + 1;
  return counts;
}

/** Codes that other checks report. */
const REPORTED_ELSEWHERE: readonly string[] = [...NOTHING_EVICTABLE, 'EVICTD_SOURCE_MISSING', 'EVICTD_SOURCE_WATCH'];

/** The warnings of `config check`, in short. */
export const lintCheck = defineCheck('config.lint', ['workloads'], ({ workloads: { notices } }, id) => {
  const warnings = notices.filter(({ level, code }) => level === 'warn' && !REPORTED_ELSEWHERE.includes(code));
  const details = { notices: notices.map(({ level, code, message }) => ({ level, code, message })) };
  const [first] = warnings;
  if (first === undefined) return ok(id, 'evictd config check has no further warnings', details);
  const rest = warnings.length === 1 ? '' : `; and ${String(warnings.length - 1)} more`;
  return degraded(
    id,
    `${first.message}${rest}`,
    `${first.hint === undefined ? '' : `${first.hint}; `}evictd config check lists all with their positions`,
    details,
  );
});
