import { exhaustedBudget } from '../budget/eviction-budget.js';
import { isBelow } from '../workload/cgroup.js';
import { isUrgentThreshold } from './eviction-cause.js';
import type { Victim } from './eviction-decision.js';
import { usagesFor } from './candidate-usages.js';
import { holdersOn } from '../disk/held-space.js';
import { mayComeBefore, moveBack, assignPlaces, rank, type RankedWorkload, type RankOptions } from './rank.js';
import { minYield, type Shortfall } from './shortfall.js';
import { isPressure, SIGNAL_FACTS, type Resource, type ResourceSignal } from '../signal/signal.js';
import type { Layout } from '../signal/layout.js';
import type { Policy, State } from '../decide/state.js';
import { countsSwap, type ResourceThreshold } from '../threshold/threshold.js';
import { NO_CANDIDATES, type Candidates, type Protection, type WorkloadStats } from '../workload/workload.js';

/**
 * The wait for soft thresholds and disks. systemd answers within milliseconds unless it is in trouble itself. A hard
 * threshold of memory or process ids waits for nothing: these keep falling meanwhile.
 */
const PATIENT_AWAITS_NS = 250_000_000n;

/**
 * The ranking, with a reason for each workload that was passed over, and the victim; undefined: no workload may be
 * evicted. If a workload ended or changed, the candidates are read once more. 'awaited': facts about the victim arrive
 * in a moment. 'measuring': it is not known yet which workload would free enough.
 *
 * @param growers  ids of the only workloads that may be evicted; left out: any
 */
export function selectVictim(
  policy: Policy,
  layout: Layout,
  shortfall: Shortfall,
  candidates: () => Candidates,
  before: PassedOver,
  nowNs: bigint,
  growers?: ReadonlySet<string>,
): Victim | 'awaited' | 'measuring' | undefined {
  const { threshold } = shortfall;
  const options = optionsFor(policy, shortfall);
  let found = NO_CANDIDATES;
  const isUrgent = isUrgentThreshold(threshold);
  const passedOverBy = (item: RankedWorkload): Protection | undefined =>
    outside(policy, threshold.signal, item) ??
    unchanged(item, growers) ??
    passedOver(policy, SIGNAL_FACTS[threshold.signal].resource, item, found, before, nowNs);
  const ranked = (): Omit<Victim, 'victim' | 'unitStop'> & { victim: RankedWorkload | undefined } => {
    found = candidates();
    if (options.countsSwap) measureAll(found);
    const ranking = rank(threshold.signal, layout, usagesFor(threshold.signal, found), policy.departures, options);
    const at = firstEvictable(ranking, passedOverBy, (index) =>
      measureAt(policy, layout, threshold.signal, ranking, index, found, options),
    );
    return { victim: ranking[at], ranking, found };
  };
  let choice = ranked();
  if (choice.ranking.some(({ protection }) => protection?.kind === 'removed' || protection?.kind === 'changed')) choice = ranked();
  const { victim } = choice;
  if (victim === undefined) {
    if (choice.ranking.some(({ protection }) => protection?.kind === 'unreported' && protection.what === 'name')) return 'awaited';
    return choice.ranking.some(({ protection }) => protection?.kind === 'measuring') ? 'measuring' : undefined;
  }
  if (!isUrgent && found.awaited?.(victim.workload, PATIENT_AWAITS_NS)) return 'awaited';
  const awaitsMeasurement = choice.ranking.some(
    (item) =>
      item.protection?.kind === 'measuring' &&
      mayComeBefore(threshold.signal, layout, policy.departures, item, victim) &&
      passedOverBy(item) === undefined,
  );
  const holders = holdersOn(threshold.signal, found.holders, nowNs);
  return {
    ...choice,
    victim,
    awaitsMeasurement,
    unitStop: found.stop?.(victim.workload, { asKnown: isUrgent && policy.departures['hard-grace'] }),
    holders,
  };
}

/**
 * The index of the first workload that may be evicted. Those before it get the reason why not. A workload of which only
 * a bound is known is measured first, and moves back: no workload behind the result can belong before it.
 *
 * @param measure  returns whether the workload was measured, and may have been replaced by another one at this index; left out: none is
 */
export function firstEvictable(
  ranking: RankedWorkload[],
  passedOverBy: (item: RankedWorkload) => Protection | undefined,
  measure?: (index: number) => boolean,
): number {
  let isMoved = false;
  let index = 0;
  for (let [item] = ranking; item !== undefined; item = ranking[index]) {
    if (measure?.(index)) {
      isMoved = true;
      continue;
    }
    const protection = item.protection ?? passedOverBy(item);
    if (protection === undefined) break;
    if (item.protection === undefined) ranking[index] = { ...item, protection };
    index += 1;
  }
  if (isMoved) assignPlaces(ranking);
  return index;
}

function optionsFor({ departures }: Policy, shortfall: Shortfall): RankOptions & { readonly countsSwap: boolean } {
  return {
    minYield: departures['no-yield'] ? minYield(shortfall) : undefined,
    countsSwap: countsSwap(shortfall.threshold),
  };
}

/**
 * The ranking of a moment, for people. The first `most` are measured and have what keeps evictd from evicting them now,
 * as `selectVictim` finds it, which looks only as far as the first one that may be evicted.
 *
 * @param shortfall  undefined: no threshold of the signal is met
 */
export function judgedRanking(
  policy: Policy,
  layout: Layout,
  signal: ResourceSignal,
  shortfall: Shortfall | undefined,
  found: Candidates,
  before: PassedOver,
  nowNs: bigint,
  most: number,
): RankedWorkload[] {
  const options = shortfall ? optionsFor(policy, shortfall) : { countsSwap: isPressure(signal) };
  if (options.countsSwap) measureAll(found);
  const ranking = rank(signal, layout, usagesFor(signal, found), policy.departures, options);
  for (let index = 0; index < Math.min(most, ranking.length);) {
    if (measureAt(policy, layout, signal, ranking, index, found, options)) continue;
    const item = ranking[index];
    const protection =
      item &&
      (item.protection ?? outside(policy, signal, item) ?? passedOver(policy, SIGNAL_FACTS[signal].resource, item, found, before, nowNs));
    if (item && protection) ranking[index] = { ...item, protection };
    index += 1;
  }
  assignPlaces(ranking);
  return ranking;
}

function unchanged({ workload }: RankedWorkload, growers: ReadonlySet<string> | undefined): Protection | undefined {
  return growers === undefined || growers.has(workload.id) ? undefined : { kind: 'no-yield' };
}

/** All workloads with what they use now, whatever the pass left out. */
export function measuredRanking({ departures }: Policy, layout: Layout, threshold: ResourceThreshold, found: Candidates): RankedWorkload[] {
  measureAll(found);
  return rank(threshold.signal, layout, usagesFor(threshold.signal, found), departures, { countsSwap: countsSwap(threshold) });
}

/** The usage is not an upper bound where swap counts: cgroup v1 has a workload's swap in memory.stat only. */
export function measureAll({ usages, measure }: Candidates): void {
  if (measure === undefined) return;
  for (const { workload, stats } of [...usages]) if (stats?.workingSetAtMost) measure(workload);
}

/**
 * Measures the workload at an index of a ranking if only a bound of it is known, and moves it back to where it belongs.
 *
 * @returns whether it did. Another one may be at this index then
 */
export function measureAt(
  { departures }: Pick<Policy, 'departures'>,
  layout: Layout,
  signal: ResourceSignal,
  ranking: RankedWorkload[],
  index: number,
  found: Candidates,
  options: RankOptions = {},
): boolean {
  const item = ranking[index];
  const measured = item?.stats?.workingSetAtMost ? measuredStats(found, item.stats, item) : undefined;
  if (measured) moveBack(ranking, index, measured, signal, layout, departures, options);
  return measured !== undefined;
}

/** What a pass left out, beside what it has; undefined: it cannot be read. */
function measuredStats({ measure }: Candidates, { workingSetAtMost: _, ...stats }: WorkloadStats, item: RankedWorkload | undefined) {
  const measured = item && measure?.(item.workload);
  if (measured === undefined) return undefined;
  const { workingSetBytes, usageBytes, staysBytes, swapBytes } = measured;
  return {
    ...stats,
    workingSetBytes,
    usageBytes,
    ...(staysBytes !== undefined && { staysBytes }),
    ...(swapBytes !== undefined && { swapBytes }),
  };
}

/** Evicting a workload of another cgroup frees nothing in the cgroup that is short. */
function outside(
  { allocatableCgroup: cgroup }: Policy,
  signal: ResourceSignal,
  { workload: { path } }: RankedWorkload,
): Protection | undefined {
  if (SIGNAL_FACTS[signal].scope !== 'allocatable' || cgroup === undefined) return undefined;
  return path === cgroup || isBelow(path, cgroup) || isBelow(cgroup, path) ? undefined : { kind: 'outside', cgroup };
}

/** What keeps evictd for a while from evicting a workload that is not protected. */
type PassedOver = Pick<State, 'failedKills' | 'evictionTimes'>;

export function passedOver(
  policy: Policy,
  resource: Resource,
  { workload, priority }: RankedWorkload,
  found: Candidates,
  { failedKills, evictionTimes }: PassedOver,
  nowNs: bigint,
): Protection | undefined {
  const untilNs = failedKills.get(workload.id);
  if (untilNs !== undefined && nowNs < untilNs) return { kind: 'kill-failed' };
  const band = exhaustedBudget(policy, evictionTimes, resource, nowNs, priority);
  if (band !== undefined) return { kind: 'budget', minPriority: band.minPriority };
  return found.veto?.(workload);
}
