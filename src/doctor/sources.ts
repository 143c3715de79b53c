import { degraded, ok, type Check } from './check.js';
import type { WorkloadFacts } from './facts/workloads.js';

const ID = 'workloads[N]';

/** What each source yields, by itself. A workload that two of them name counts in both. */
export function checkSources({ sources }: WorkloadFacts): Check[] {
  return sources.map(({ key, text, workloads, unreadable, problems }, index) => {
    const id = ID.replace('N', String(index));
    const details = { source: text, key, workloads, unreadable, problems: problems.map(({ code, message }) => ({ code, message })) };
    const [problem] = problems;
    if (problem) return degraded(id, problem.message, problem.hint ?? 'evictd rank shows what there is', details);
    if (unreadable > 0) {
      const said = `${text}: ${String(workloads)} workloads, and ${String(unreadable)} that cannot be read and so are never evicted`;
      return degraded(id, said, 'run evictd as root; evictd rank says which, and why', details);
    }
    if (workloads === 0)
      return degraded(id, `${text}: no workload is there now`, 'its workloads are candidates as soon as they are there', details);
    return ok(id, `${text}: ${String(workloads)} ${workloads === 1 ? 'workload' : 'workloads'}`, details);
  });
}
