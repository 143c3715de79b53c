import type { State } from '../decide/state.js';
import type { Comparator } from '../policy/configured-policy.js';
import type { RankedWorkload } from '../rank/rank.js';
import type { Victim } from '../rank/eviction-decision.js';
import { passedOver } from '../rank/victim-selection.js';
import { isBelow } from '../workload/cgroup.js';
import type { Candidates, Workload } from '../workload/workload.js';
import { victimId, type WorkloadProcess } from '../workload/process.js';
import { AWAITS_NS, scopeRanking, type ScopeOrder } from './policy-victim.js';
import { compared, whole } from './victim-order.js';

const MI = 1024n * 1024n;

/** Resident and swapped. */
function sizeOf({ residentBytes, swapBytes }: WorkloadProcess): bigint {
  return residentBytes + swapBytes;
}

/** What these comparators compare of a process, in the units of victim-order.ts. The others compare its workload. */
const OF_PROCESS: Partial<Readonly<Record<Comparator, (process: WorkloadProcess) => number>>> = {
  size: (one) => Number(sizeOf(one) / MI),
  anon: ({ anonBytes }) => Number(anonBytes / MI),
  swap: ({ swapBytes }) => Number(swapBytes / MI),
  oom_score: ({ oomScore }) => oomScore,
};

type ProcessCandidate = RankedWorkload & {
  readonly process: WorkloadProcess;
  /** It does not end alone, but with all of its workload. */
  readonly group: RankedWorkload | undefined;
};

/**
 * The process of a scope that is ended, with the ranking of the workloads. Its group ends with it: a cgroup in the workload,
 * or the workload, where the group is that or above it. undefined: there is none. A workload that may not be evicted keeps all
 * of its processes. That a login session is to be avoided does not count: it goes on. 'awaited': facts about the victim arrive
 * in a moment.
 *
 * @param read  of these workloads, in this order
 */
export function scopeProcess(
  order: ScopeOrder,
  found: Candidates,
  before: Pick<State, 'failedKills' | 'evictionTimes'>,
  read: (workloads: readonly Workload[]) => readonly WorkloadProcess[],
  nowNs: bigint,
): Victim | 'awaited' | undefined {
  const ranking = scopeRanking(order, found);
  const byPath = new Map(ranking.filter(({ protection }) => protection === undefined).map((item) => [item.workload.path, item]));
  const all = read([...byPath.values()].map(({ workload }) => workload)).flatMap((one): readonly ProcessCandidate[] => {
    const item = byPath.get(one.path);
    if (item === undefined) return [];
    const { stays: _outlivesAll, ...rest } = item;
    const group = one.group === undefined || isBelow(one.group.path, one.path) ? undefined : item;
    const candidate = { ...rest, process: one, group };
    const untilNs = before.failedKills.get(victimId(candidate));
    return untilNs !== undefined && nowNs < untilNs ? [] : [candidate];
  });
  const passed = new Map<RankedWorkload['workload'], ReturnType<typeof passedOver>>();
  const first = inProcessOrder(all, order).find((item) => {
    const { workload } = item;
    if (!passed.has(workload)) passed.set(workload, passedOver(order.policy, 'memory', item.group ?? item, found, before, nowNs));
    return passed.get(workload) === undefined;
  });
  if (first === undefined) return undefined;
  const { group, ...alone } = first;
  const reasoned = ranking.map((item) => {
    const protection = item.protection ?? passed.get(item.workload);
    return protection === undefined ? item : { ...item, protection };
  });
  if (group === undefined) return { victim: alone, ranking: reasoned, found };
  if (found.awaited?.(group.workload, AWAITS_NS)) return 'awaited';
  return { victim: group, ranking: reasoned, found, unitStop: found.stop?.(group.workload) };
}

/** The first one ends. A total order: behind the comparators come the size, the place of the workload, the age, the pid. */
function inProcessOrder(all: readonly ProcessCandidate[], { by, histories }: ScopeOrder): readonly ProcessCandidate[] {
  const values = by.map((comparator) => {
    const ofProcess = OF_PROCESS[comparator];
    return (item: ProcessCandidate): number =>
      ofProcess === undefined ? whole(compared(comparator, item, histories)) : ofProcess(item.process);
  });
  const asksToAvoid = ({ workload: { avoid, oomPreference }, group }: ProcessCandidate): number =>
    avoid && (oomPreference === 'avoid' || group !== undefined) ? 1 : 0;
  return [...all].sort((a, b) => {
    const avoided = asksToAvoid(a) - asksToAvoid(b);
    if (avoided !== 0) return avoided;
    for (const of of values) {
      const order = of(b) - of(a);
      if (order !== 0 && !Number.isNaN(order)) return order;
    }
    const [sizeA, sizeB] = [sizeOf(a.process), sizeOf(b.process)];
    if (sizeA !== sizeB) return sizeA > sizeB ? -1 : 1;
    if (a.place !== b.place) return a.place - b.place;
    const [startA, startB] = [a.process.startTicks, b.process.startTicks];
    return startA === startB ? b.process.pid - a.process.pid : startA > startB ? -1 : 1;
  });
}
