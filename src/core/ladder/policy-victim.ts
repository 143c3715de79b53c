import type { Policy, State } from '../decide/state.js';
import type { Comparator } from '../policy/configured-policy.js';
import { assignPlaces, rank, type RankedWorkload } from '../rank/rank.js';
import { passedOver, firstEvictable } from '../rank/victim-selection.js';
import type { Victim } from '../rank/eviction-decision.js';
import type { Layout } from '../signal/layout.js';
import type { Candidates } from '../workload/workload.js';
import { mayActOn, workloadsOf, type ScopeWorkloads } from './scope-workloads.js';
import { inVictimOrder, type ComparedHistories } from './victim-order.js';

/** How long facts about a victim are awaited: systemd answers within milliseconds unless it is in trouble itself. */
export const AWAITS_NS = 250_000_000n;

export interface ScopeOrder extends ScopeWorkloads {
  readonly policy: Policy;
  readonly layout: Layout;
  readonly by: readonly Comparator[];
  readonly recursive: boolean;
  readonly histories: ComparedHistories;
}

/** The workloads of a scope in the order of its policy. */
export function scopeRanking(order: ScopeOrder, found: Candidates): RankedWorkload[] {
  const { policy, layout, scope, by, recursive, histories } = order;
  for (const { workload, stats } of [...found.usages]) {
    if (order.managed === undefined && stats?.workingSetAtMost && mayActOn(order, workload.path)) found.measure?.(workload);
  }
  const inScope = workloadsOf(order, found);
  const ranking = [
    ...inVictimOrder(rank('memory.available', layout, inScope, policy.departures), { by, scope, recursive, readings: histories }),
  ];
  assignPlaces(ranking);
  return ranking;
}

/**
 * The first workload of a scope that may be evicted, and its ranking, with a reason for each before it why not. undefined:
 * there is none. 'awaited': facts about the victim arrive in a moment.
 */
export function scopeVictim(
  order: ScopeOrder,
  found: Candidates,
  before: Pick<State, 'failedKills' | 'evictionTimes'>,
  nowNs: bigint,
): Victim | 'awaited' | undefined {
  const ranking = scopeRanking(order, found);
  const at = firstEvictable(ranking, (item) => passedOver(order.policy, 'memory', item, found, before, nowNs));
  const victim = ranking[at];
  if (victim === undefined) return undefined;
  if (found.awaited?.(victim.workload, AWAITS_NS)) return 'awaited';
  return { victim, ranking, found, unitStop: found.stop?.(victim.workload) };
}

/** The workloads of a scope that may be reclaimed from, throttled or frozen: those that might be evicted, in the order of its policy. */
export function restrainable(order: ScopeOrder, found: Candidates): readonly RankedWorkload[] {
  return scopeRanking(order, found).filter((item) => item.protection === undefined && found.veto?.(item.workload) === undefined);
}
