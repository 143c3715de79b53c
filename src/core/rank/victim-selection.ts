import { usedUpBudget, withBudgeted } from '../budget/eviction-budget.js';
import { repeatedGrowers } from '../budget/repeated-eviction.js';
import { withoutBases } from '../budget/growth-base.js';
import { isBelow } from '../workload/cgroup.js';
import { inFlight, type Decision, type EvictionInFlight, type StorageLimitCause, type UnitDecision } from '../decide/eviction.js';
import { type ThresholdCause } from '../threshold/threshold-cause.js';
import type { Effect } from '../decide/effect.js';
import { usagesFor } from './candidate-usages.js';
import type { DiskHolder } from '../disk/filesystem-holders.js';
import { holdersOn } from '../disk/held-space.js';
import { mayComeBefore, moveBack, numberPlaces, rank, type RankedWorkload } from './rank.js';
import { leastYield, type Shortfall } from './shortfall.js';
import { SIGNAL_FACTS, type ConditionType, type Resource, type ResourceSignal, filesystemOf } from '../signal/signal.js';
import type { Layout } from '../signal/layout.js';
import { evictionsBefore, holdOf } from '../systemd/restart-storm.js';
import type { Policy, State } from '../decide/state.js';
import { countsSwap, thresholdKind, type ResourceThreshold } from '../threshold/threshold.js';
import type { UnitStop } from '../systemd/unit-stop.js';
import type { Candidates, Protection, WorkloadStats } from '../workload/workload.js';

/**
 * The kubelet's grace period for a hard eviction, contrary to its documentation (eviction_manager.go,
 * immediateEvictionGracePeriodSeconds).
 */
const KUBELET_HARD_GRACE_NS = 1_000_000_000n;

/**
 * For soft thresholds and disks. systemd answers within milliseconds unless it is in trouble itself. A hard threshold of
 * memory or process ids waits for nothing: these keep falling meanwhile.
 */
const PATIENT_AWAITS_NS = 250_000_000n;

export interface Choice {
  readonly effects: readonly Effect[];
  readonly evictions: readonly EvictionInFlight[];
  readonly settled: State['settled'];
  readonly decisions: number;
  readonly evictionTimes: State['evictionTimes'];
  readonly baselines: State['baselines'];
  readonly unitEvictions: State['unitEvictions'];
  readonly held: State['held'];
  readonly measurementAwaitedSince: State['measurementAwaitedSince'];
  /** A step is due soon: facts about the victim are outstanding, or the shortage was over at the last look. */
  readonly awaiting: boolean;
  /** Ids of thresholds whose shortage was over at the last look. They evicted nothing and owe no min reclaim. */
  readonly over: readonly string[];
}

/** A victim and the ranking that it was selected from. */
export interface Victim {
  readonly victim: RankedWorkload;
  readonly ranking: readonly RankedWorkload[];
  readonly unreadable: Candidates['unreadable'];
  readonly holders?: readonly DiskHolder[] | undefined;
  /** undefined: not a systemd unit, or its processes get signals. */
  readonly unitStop?: UnitStop | undefined;
  /** A workload that may rank before it is being measured. */
  readonly awaitsMeasurement?: boolean;
}

export function decide(
  policy: Policy,
  choice: Choice,
  cause: ThresholdCause | StorageLimitCause,
  { victim, ranking, unreadable, unitStop, holders }: Victim,
  nowNs: bigint,
): Choice {
  const serial = choice.decisions + 1;
  const grace = graceNs(policy, cause, victim);
  const unit = unitDecision(choice, cause, victim, { serial, stop: unitStop, isGraceful: grace > 0n }, nowNs);
  const repeated = cause.kind === 'threshold' ? repeatedGrowers(policy, choice, cause, ranking, nowNs) : [];
  const decision: Decision = {
    serial,
    resource: resourceOf(cause),
    cause,
    victim,
    graceNs: grace,
    ranking,
    unreadable,
    decidedAtNs: nowNs,
    dryRun: policy.dryRun,
    ...(holders && { holders }),
    ...(unit && { unit }),
    ...(repeated.some(({ workload }) => workload.id === victim.workload.id) && { repeats: true }),
  };
  const hold = policy.dryRun ? undefined : unit?.hold;
  return {
    ...choice,
    effects: [...choice.effects, { kind: 'evict', decision }],
    evictions: policy.dryRun ? choice.evictions : [...choice.evictions, inFlight(decision)],
    decisions: serial,
    evictionTimes: policy.dryRun ? choice.evictionTimes : withBudgeted(policy, choice.evictionTimes, decision),
    baselines: policy.dryRun ? choice.baselines : withoutBases(choice.baselines, decision.resource),
    held: hold ? new Map(choice.held).set(hold.unit, hold) : choice.held,
  };
}

function unitDecision(
  choice: Choice,
  cause: ThresholdCause | StorageLimitCause,
  { workload: { unit, path } }: RankedWorkload,
  { serial, stop, isGraceful }: { readonly serial: number; readonly stop: UnitStop | undefined; readonly isGraceful: boolean },
  nowNs: bigint,
): UnitDecision | undefined {
  if (unit === undefined) return undefined;
  const evictions = evictionsBefore(path, choice, nowNs) + 1;
  const stopped = {
    unit: unit.name,
    decision: serial,
    stop,
    evictions,
    isGraceful,
    condition: conditionOf(cause),
  };
  return { evictions, stop, hold: holdOf(stopped, choice.held, nowNs) };
}

function conditionOf(cause: ThresholdCause | StorageLimitCause): ConditionType {
  return cause.kind === 'threshold' ? SIGNAL_FACTS[cause.threshold.signal].condition : 'DiskPressure';
}

function resourceOf(cause: ThresholdCause | StorageLimitCause): Resource {
  return cause.kind === 'threshold' ? SIGNAL_FACTS[cause.threshold.signal].resource : 'ephemeral-storage';
}

/** Of a pod that sets none (DefaultTerminationGracePeriodSeconds). */
const DEFAULT_GRACE_NS = 30_000_000_000n;

/**
 * Hard, or over a storage limit: none, or the kubelet's second. Soft: the smaller of evictionMaxPodGracePeriod and the
 * workload's own. If the former is below 0 it is the smaller one to the kubelet (eviction_manager.go, synchronize,
 * v1.36.2), and no limit to evictd.
 */
function graceNs({ departures, maxPodGracePeriodNs }: Policy, cause: ThresholdCause | StorageLimitCause, victim: RankedWorkload): bigint {
  if (cause.kind === 'storage-limit' || thresholdKind(cause.threshold) === 'hard') {
    return departures['hard-grace'] ? 0n : KUBELET_HARD_GRACE_NS;
  }
  const own = victim.workload.terminationGracePeriodNs;
  if (maxPodGracePeriodNs < 0n && departures['soft-default-grace']) return own ?? DEFAULT_GRACE_NS;
  return own !== undefined && own < maxPodGracePeriodNs ? own : maxPodGracePeriodNs;
}

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
  const options = {
    leastYield: policy.departures['no-yield'] ? leastYield(shortfall) : undefined,
    countsSwap: countsSwap(threshold),
  };
  let found = NO_CANDIDATES;
  const isUrgent = thresholdKind(threshold) === 'hard' && filesystemOf(threshold.signal) === undefined;
  const passedOverBy = (item: RankedWorkload): Protection | undefined =>
    outside(policy, threshold.signal, item) ??
    unchanged(item, growers) ??
    passedOver(policy, SIGNAL_FACTS[threshold.signal].resource, item, found, before, nowNs);
  const ranked = (): Omit<Victim, 'victim' | 'unitStop'> & { victim: RankedWorkload | undefined } => {
    found = candidates();
    const { unreadable } = found;
    if (options.countsSwap) measureAll(found);
    const ranking = rank(threshold.signal, layout, usagesFor(threshold.signal, found), policy.departures, options);
    const at = firstEvictable(ranking, passedOverBy, (index, stats) => {
      const measured = measuredStats(found, stats, ranking[index]);
      if (measured) moveBack(ranking, index, measured, threshold.signal, layout, policy.departures, options);
      return measured !== undefined;
    });
    return { victim: ranking[at], ranking, unreadable };
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
 * @param measure  returns whether the workload was measured, and replaced by another one at this index
 */
function firstEvictable(
  ranking: RankedWorkload[],
  passedOverBy: (item: RankedWorkload) => Protection | undefined,
  measure: (index: number, stats: WorkloadStats) => boolean,
): number {
  let isMoved = false;
  let index = 0;
  for (let [item] = ranking; item !== undefined; item = ranking[index]) {
    if (item.stats?.workingSetAtMost && measure(index, item.stats)) {
      isMoved = true;
      continue;
    }
    const protection = item.protection ?? passedOverBy(item);
    if (protection === undefined) break;
    if (item.protection === undefined) ranking[index] = { ...item, protection };
    index += 1;
  }
  if (isMoved) numberPlaces(ranking);
  return index;
}

function unchanged({ workload }: RankedWorkload, growers: ReadonlySet<string> | undefined): Protection | undefined {
  return growers === undefined || growers.has(workload.id) ? undefined : { kind: 'no-yield' };
}

/** All workloads with what they use now, whatever the pass left out. */
export function measuredRanking({ departures }: Policy, layout: Layout, threshold: ResourceThreshold, found: Candidates): RankedWorkload[] {
  measureAll(found);
  return rank(threshold.signal, layout, usagesFor(threshold.signal, found), departures, { countsSwap: countsSwap(threshold) });
}

/** The usage is no upper bound where swap counts: cgroup v1 has a workload's swap in memory.stat only. */
export function measureAll({ usages, measure }: Candidates): void {
  if (measure === undefined) return;
  for (const { workload, stats } of [...usages]) if (stats?.workingSetAtMost) measure(workload);
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

const NO_CANDIDATES: Candidates = { usages: [], unreadable: [], timeNs: 0n };

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
  const band = usedUpBudget(policy, evictionTimes, resource, nowNs, priority);
  if (band !== undefined) return { kind: 'budget', minPriority: band.minPriority };
  return found.veto?.(workload);
}
