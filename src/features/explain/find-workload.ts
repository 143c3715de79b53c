import type { RankReport } from '../../cli/output/ranking.js';
import { printable } from '../../core/name/printable.js';
import type { RankedWorkload } from '../../core/rank/rank.js';
import { compileGlob } from '../../core/workload/glob.js';
import { InputError } from '../../errors.js';

/** All workloads of a moment. */
type Found = Pick<RankReport, 'ranked' | 'vacant' | 'unreadable' | 'configured'>;

/** Finds a workload by name, path or pattern. @throws InputError  if there is none, or several match a pattern */
export function findWorkload({ ranked, vacant, unreadable, configured }: Found, wanted: string): RankedWorkload {
  const exact = ranked.filter(({ workload: { name, path } }) => [name, path, printable(name), printable(path)].includes(wanted));
  const glob = compileGlob(wanted);
  const all = exact.length > 0 ? exact : ranked.filter(({ workload: { name, path } }) => glob.test(name) || glob.test(path));
  const [first, second] = all;
  if (first && !second) return first;
  const named = ({ name, path }: { readonly name: string; readonly path: string }): boolean => name === wanted || path === wanted;
  const unread = unreadable.find(named);
  const why = second
    ? `${String(all.length)} workloads match '${wanted}': ${all
        .slice(0, 5)
        .map(({ workload }) => workload.path)
        .join(', ')}`
    : vacant.some(({ workload }) => named(workload))
      ? `${wanted} has no process, so it is not evicted`
      : unread
        ? `${wanted} cannot be ranked: ${unread.reason}`
        : configured
          ? `there is no workload '${wanted}'`
          : `no workload source is configured, so '${wanted}' is not a workload`;
  throw new InputError('EVICTD_EXPLAIN_WORKLOAD', printable(why), {
    isMissing: true,
    hint: second
      ? 'name one by its path'
      : configured
        ? 'evictd rank lists the workloads'
        : 'name a source: workloads: [{cgroup: /workload.slice}], or evictd config init',
  });
}
