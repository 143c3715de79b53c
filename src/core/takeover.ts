import type { EvictionInFlight } from './eviction.js';
import { gapNs } from './gap.js';
import { initialState, type Policy, type State } from './state.js';

/** How long nobody has looked, the machine's sleep included, and how much of that it slept. */
export interface Away {
  readonly awayNs: bigint;
  readonly sleptNs: bigint;
}

/** What the next evictd begins with. */
export interface Takeover {
  readonly state: State;
  /** By serial: why an eviction in flight does not go on. */
  readonly abandoned: ReadonlyMap<number, string>;
}

/** An eviction that nobody has looked after for longer than this, or than a gap, does not go on: who lives in the cgroup by now is not known. */
const UNATTENDED_NS = 60_000_000_000n;

/** Whether anything stands that time goes on for: then it counts when somebody last looked. */
export function isWaiting({ episodes, conditions, evictions, failedKills, held }: State): boolean {
  return episodes.size > 0 || conditions.length > 0 || evictions.length > 0 || failedKills.size > 0 || held.size > 0;
}

/**
 * What an evictd that has just been started makes of what the one before knew. Without departure `restart-memory` that is nothing, as a kubelet knows nothing after a
 * restart; but in both profiles evictions in flight go on, decisions are numbered on, and what is kept stopped has to be started again.
 *
 * The times are on the monotonic clock, which does not count the machine's sleep. It counts for what was seen: nobody looked. It does not for a victim's grace: the
 * victim slept, too.
 */
export function takeOver(policy: Policy, before: State, { awayNs, sleptNs }: Away, nowNs: bigint): Takeover {
  const all = asleep(before, sleptNs);
  const { decisions, unitEvictions, held } = all;
  const evictions = all.evictions.map((eviction) => resumed(eviction, nowNs));
  const known = policy.departures['restart-memory'] ? { ...initialState, ...all } : { ...initialState, unitEvictions, held };
  const isUnattended = awayNs > UNATTENDED_NS && awayNs > gapNs(policy);
  const reason = `nobody looked after it for ${String(awayNs / 1_000_000_000n)} s`;
  return {
    state: { ...known, evictions, decisions },
    abandoned: new Map(isUnattended ? evictions.map(({ decision: { serial } }) => [serial, reason]) : []),
  };
}

/** Who was told to end keeps what is left of his grace. Who gets SIGKILL gets it once more, and the time for that begins now. */
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
    conditionsLastObservedAt: all(before.conditionsLastObservedAt),
    relievedNs: relievedNs === undefined ? undefined : earlier(relievedNs),
    failedKills: all(before.failedKills),
    unitEvictions: new Map([...before.unitEvictions].map(([path, times]) => [path, times.map(earlier)])),
    held: new Map(
      [...before.held].map(([unit, hold]) => [unit, { ...hold, untilNs: hold.untilNs === undefined ? undefined : earlier(hold.untilNs) }]),
    ),
  };
}
