import { memoryOf } from '../reclaim/node-yield.js';
import type { RankedWorkload } from '../rank/rank.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';
import { budgetedVictims, type BudgetPolicy, type EvictionTimes } from './eviction-budget.js';
import { growersIn, growthSince } from './growth.js';
import { memoryBase, type GrowthBases } from './growth-base.js';

interface Evicted {
  readonly evictionTimes: EvictionTimes;
  readonly baselines: GrowthBases;
}

/**
 * Workloads that were evicted within the budget's window, were started again and grow now; the largest growth first. The
 * budget counts all evictions of such a workload as one, because they protect the others. For memory only: evictd does not
 * know the growth of other resources.
 */
export function repeatedGrowers(
  policy: BudgetPolicy,
  { evictionTimes, baselines }: Evicted,
  cause: Omit<ThresholdCause, 'kind'>,
  ranking: readonly RankedWorkload[],
  nowNs: bigint,
): readonly RankedWorkload[] {
  const [memory, last] = [memoryOf(cause), memoryBase(baselines)];
  if (last === undefined || memory?.signal !== last.signal) return [];
  const evicted = budgetedVictims(policy, evictionTimes, 'memory', nowNs);
  if (!ranking.some(({ workload }) => evicted.has(workload.path))) return [];
  const growth = growthSince(last.base, cause.threshold.signal, ranking, memory.before.available);
  const growers = growersIn(last.base, growth, memory.limit ?? memory.before.available);
  return growth.workloads
    .filter(({ item: { workload } }) => evicted.has(workload.path) && growers.has(workload.id))
    .sort((a, b) => (a.curable < b.curable ? 1 : -1))
    .map(({ item }) => item);
}
