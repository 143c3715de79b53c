import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { WorkloadFacts } from '../facts/workload-facts.js';

const ID = 'workloads[N]';

/** The workloads of each source; a workload of two sources counts in both. */
export function checkSources({ sources }: WorkloadFacts): Check[] {
  return sources.map(({ key, text, workloads, unreadable, problems }, index) => {
    const id = ID.replace('N', String(index));
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
}

export const sourcesCheck = defineCheck(ID, ['workloads'], ({ workloads }) => checkSources(workloads));
