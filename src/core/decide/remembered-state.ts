import type { GrowthBase } from '../budget/growth-base.js';
import type { EvictionInFlight } from './eviction.js';
import { gapNs } from '../threshold/observation-gap.js';
import { initialState, type Policy, type State } from './state.js';

/** How long no evictd ran, the machine's sleep included, and how long the machine slept. */
export interface Downtime {
  readonly awayNs: bigint;
  readonly sleptNs: bigint;
}

export interface Takeover {
  readonly state: State;
  /** The reason why an eviction does not continue, by serial. */
  readonly abandoned: ReadonlyMap<number, string>;
}

/**
 * An eviction does not continue after a longer break than this and than a gap: other processes may be in the cgroup by
 * now.
 */
const UNATTENDED_NS = 60_000_000_000n;

/** Whether time matters to the state, so that the time of the last step must be saved. */
export function isWaiting({ episodes, conditions, evictions, failedKills, refusedEvictions, held }: State): boolean {
  const isPassed = failedKills.size > 0 || refusedEvictions.size > 0;
  return episodes.size > 0 || conditions.length > 0 || evictions.length > 0 || isPassed || held.size > 0;
}

/**
 * The state after a restart. Without departure `restart-memory` a restart forgets it, as the kubelet's does, except
 * evictions in flight, the serial, the budget, held units, and what operators have asked for. Times are monotonic and exclude the
 * machine's sleep. Sleep counts as time without observations, but not as a part of a victim's grace period: the victim
 * slept too.
 */
export function takeOver(policy: Policy, before: State, { awayNs, sleptNs }: Downtime, nowNs: bigint): Takeover {
  const all = asleep(before, sleptNs);
  const { decisions, evictionTimes, baselines, unitEvictions, held, ...rest } = all;
  const { pauses, taints, taintEvictions, disruptedBudgets, disruptions, drain } = rest;
  const evictions = all.evictions.map((eviction) => resumed(eviction, nowNs));
  const known = policy.departures['restart-memory']
    ? { ...initialState, ...all }
    : {
        ...initialState,
        evictionTimes,
        baselines,
        unitEvictions,
        held,
        pauses,
        taints,
        taintEvictions,
        disruptedBudgets,
        disruptions,
        drain,
      };
  const isUnattended = awayNs > UNATTENDED_NS && awayNs > gapNs(policy);
  const reason = `no evictd ran for ${String(awayNs / 1_000_000_000n)} s`;
  return {
    state: { ...known, evictions, decisions },
    abandoned: new Map(isUnattended ? evictions.map(({ decision: { serial } }) => [serial, reason]) : []),
  };
}

/**
 * A victim with SIGTERM keeps the rest of its grace period. A victim with SIGKILL gets it again, and its time begins
 * now.
 */
function resumed(eviction: EvictionInFlight, nowNs: bigint): EvictionInFlight {
  return eviction.phase === 'terminating' ? eviction : { ...eviction, phaseSinceNs: nowNs, usageStillSinceNs: nowNs };
}

function asleep(before: State, sleptNs: bigint): State {
  const earlier = (atNs: bigint): bigint => atNs - sleptNs;
  const all = <K>(times: ReadonlyMap<K, bigint>): ReadonlyMap<K, bigint> => new Map([...times].map(([key, atNs]) => [key, earlier(atNs)]));
  const { lastStepNs, relievedNs } = before;
  return {
    ...before,
    lastStepNs: lastStepNs === undefined ? undefined : earlier(lastStepNs),
    firstObservedAt: all(before.firstObservedAt),
    lastSeenAt: all(before.lastSeenAt),
    reported: new Map(
      [...before.reported].map(([id, { clearSinceNs, ...rest }]) => [
        id,
        { ...rest, clearSinceNs: clearSinceNs === undefined ? undefined : earlier(clearSinceNs) },
      ]),
    ),
    conditionsLastObservedAt: all(before.conditionsLastObservedAt),
    relievedNs: relievedNs === undefined ? undefined : earlier(relievedNs),
    failedKills: all(before.failedKills),
    refusedEvictions: all(before.refusedEvictions),
    evictionTimes: new Map(
      [...before.evictionTimes].map(([resource, evictions]) => [resource, evictions.map((one) => ({ ...one, atNs: earlier(one.atNs) }))]),
    ),
    baselines: new Map(
      [...before.baselines].map(([signal, base]) => [signal, { ...base, atNs: earlier(base.atNs), since: sinceNow(base, earlier) }]),
    ),
    unitEvictions: new Map([...before.unitEvictions].map(([path, times]) => [path, times.map(earlier)])),
    held: new Map(
      [...before.held].map(([unit, hold]) => [unit, { ...hold, untilNs: hold.untilNs === undefined ? undefined : earlier(hold.untilNs) }]),
    ),
  };
}

function sinceNow({ since }: GrowthBase, earlier: (atNs: bigint) => bigint): GrowthBase['since'] {
  const ended = <E extends { readonly endedAtNs?: bigint }>(eviction: E): E =>
    eviction.endedAtNs === undefined ? eviction : { ...eviction, endedAtNs: earlier(eviction.endedAtNs) };
  if (since.kind === 'eviction') return ended(since);
  return since.kind === 'no-yield' && since.last ? { ...since, last: ended(since.last) } : since;
}
