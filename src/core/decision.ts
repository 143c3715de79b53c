import { isBelow } from './cgroup.js';
import { inFlight, type Decision, type EvictionInFlight, type StorageLimitCause, type ThresholdCause } from './eviction.js';
import type { Effect } from './effect.js';
import { rank, type RankedWorkload } from './rank.js';
import { SIGNAL_FACTS, type Resource, type Signal } from './signal.js';
import type { Layout } from './layout.js';
import type { Policy, State } from './state.js';
import { thresholdKind } from './threshold.js';
import type { Candidates, Protection } from './workload.js';

/** The kubelet's grace for a hard eviction, in spite of its documentation (eviction_manager.go, immediateEvictionGracePeriodSeconds). */
const KUBELET_HARD_GRACE_NS = 1_000_000_000n;

/** What was decided so far in a step. */
export interface Choice {
  readonly effects: readonly Effect[];
  readonly evictions: readonly EvictionInFlight[];
  readonly settled: State['settled'];
  readonly decisions: number;
}

/** Somebody who goes, and those that he was chosen among. */
export interface Victim {
  readonly victim: RankedWorkload;
  readonly ranking: readonly RankedWorkload[];
  readonly unreadable: Candidates['unreadable'];
}

/** Adds the eviction of `victim` to what was decided. */
export function decide(
  policy: Policy,
  choice: Choice,
  cause: ThresholdCause | StorageLimitCause,
  { victim, ranking, unreadable }: Victim,
  nowNs: bigint,
): Choice {
  const decision: Decision = {
    serial: choice.decisions + 1,
    resource: resourceOf(cause),
    cause,
    victim,
    graceNs: graceNs(policy, cause, victim),
    ranking,
    unreadable,
    decidedAtNs: nowNs,
    dryRun: policy.dryRun,
  };
  return {
    ...choice,
    effects: [...choice.effects, { kind: 'evict', decision }],
    evictions: policy.dryRun ? choice.evictions : [...choice.evictions, inFlight(decision)],
    decisions: decision.serial,
  };
}

function resourceOf(cause: ThresholdCause | StorageLimitCause): Resource {
  return cause.kind === 'threshold' ? SIGNAL_FACTS[cause.threshold.signal].resource : 'ephemeral-storage';
}

/** Hard, or over a limit: none, or the kubelet's second. Soft: the smaller of evictionMaxPodGracePeriod and the workload's own. */
function graceNs({ departures, maxPodGracePeriodNs }: Policy, cause: ThresholdCause | StorageLimitCause, victim: RankedWorkload): bigint {
  if (cause.kind === 'storage-limit' || thresholdKind(cause.threshold) === 'hard') {
    return departures['hard-grace'] ? 0n : KUBELET_HARD_GRACE_NS;
  }
  const own = victim.workload.terminationGracePeriodNs;
  return own !== undefined && own < maxPodGracePeriodNs ? own : maxPodGracePeriodNs;
}

/**
 * The order of eviction, with those passed over on the way to the victim, and the victim; undefined: nobody may be evicted. Where somebody is not there
 * any more, all are read once more.
 */
export function selectVictim(
  policy: Policy,
  layout: Layout,
  { threshold }: Pick<ThresholdCause, 'threshold'>,
  candidates: () => Candidates,
  failedKills: State['failedKills'],
  nowNs: bigint,
): Victim | undefined {
  const ranked = (): Omit<Victim, 'victim'> & { victim: RankedWorkload | undefined } => {
    const found = candidates();
    const ranking = rank(threshold.signal, layout, found.usages, policy.departures);
    for (const [index, item] of ranking.entries()) {
      if (item.protection !== undefined) continue;
      const protection = outside(policy, threshold.signal, item) ?? passedOver(item, found, failedKills, nowNs);
      if (protection === undefined) return { victim: item, ranking, unreadable: found.unreadable };
      ranking[index] = { ...item, protection };
    }
    return { victim: undefined, ranking, unreadable: found.unreadable };
  };
  let choice = ranked();
  if (choice.ranking.some(({ protection }) => protection?.kind === 'gone')) choice = ranked();
  const { victim } = choice;
  return victim && { ...choice, victim };
}

/** Evicting a workload of another cgroup gives nothing back to the one whose memory is short. */
function outside({ allocatableCgroup: cgroup }: Policy, signal: Signal, { workload: { path } }: RankedWorkload): Protection | undefined {
  if (signal !== 'allocatableMemory.available' || cgroup === undefined) return undefined;
  return path === cgroup || isBelow(path, cgroup) || isBelow(cgroup, path) ? undefined : { kind: 'outside', cgroup };
}

function passedOver(
  { workload }: RankedWorkload,
  found: Candidates,
  failedKills: State['failedKills'],
  nowNs: bigint,
): Protection | undefined {
  const untilNs = failedKills.get(workload.id);
  if (untilNs !== undefined && nowNs < untilNs) return { kind: 'kill-failed' };
  return found.veto?.(workload);
}
