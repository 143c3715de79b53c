import type { EvictionInFlight } from '../decide/eviction.js';
import { SIGNAL_FACTS, type ConditionType } from '../signal/signal.js';
import type { State } from '../decide/state.js';
import type { UnitStop } from './unit-stop.js';
import type { Hold } from './unit-hold.js';

/** The time in which evictions of a unit count. */
const WINDOW_NS = 600_000_000_000n;
/** This number of evictions in that time is a storm. */
const STORM = 3;
/** The minimum time that a unit is kept stopped after its second eviction, or after a stop by a policy. */
const BACK_OFF_NS = 60_000_000_000n;

/**
 * `started`: systemd has accepted or refused the start. `lost`: the connection was lost before the answer. `not
 * stopped`: systemd refused the stop. `started elsewhere`: something other than evictd started it.
 */
export type HoldChange = 'started' | 'lost' | 'not stopped' | 'started elsewhere';

/** Applies changes of held units. If something else started a unit, evictd still starts its sockets, paths and timers. */
export function applyHoldChanges(held: State['held'], news: ReadonlyMap<string, HoldChange>): State['held'] {
  const left = [...held.values()].flatMap((hold): Hold[] => {
    const { startRequested: _, ...stopped } = hold;
    switch (news.get(hold.unit)) {
      case undefined:
        return [hold];
      case 'started':
        return [];
      case 'lost':
        return [stopped];
      case 'not stopped':
        return [{ ...stopped, start: hold.unstarted }];
      case 'started elsewhere':
        return [{ ...stopped, start: hold.start.filter((name) => /\.(socket|path|timer)$/.test(name)), unstarted: [] }];
    }
  });
  return new Map(left.filter(({ start }) => start.length > 0).map((hold) => [hold.unit, hold]));
}

/** Evictions of this unit in less than the last ten minutes. */
export function evictionsBefore(path: string, { unitEvictions }: Pick<State, 'unitEvictions'>, nowNs: bigint): number {
  return (unitEvictions.get(path) ?? []).filter((atNs) => nowNs - atNs < WINDOW_NS).length;
}

/** Adds an eviction, and drops those that no longer count. */
export function withEviction(evictions: State['unitEvictions'], path: string, nowNs: bigint): State['unitEvictions'] {
  const all = new Map(evictions).set(path, [...(evictions.get(path) ?? []), nowNs]);
  return new Map(
    [...all].flatMap(([key, times]) => {
      const counting = times.filter((atNs) => nowNs - atNs < WINDOW_NS);
      return counting.length === 0 ? [] : [[key, counting] as const];
    }),
  );
}

export function isStorm(evictions: number): boolean {
  return evictions >= STORM;
}

export interface StoppedUnit {
  readonly unit: string;
  readonly decision: number;
  readonly stop: UnitStop | undefined;
  /** The number of evictions, this one included. */
  readonly evictions: number;
  /** systemd stops it. Else its processes are killed at once. */
  readonly isGraceful: boolean;
  readonly condition: ConditionType;
  /** Left out: no policy stops it. */
  readonly byPolicy?: {
    readonly graceNs: bigint;
    /** How long it is kept stopped in a storm. */
    readonly stormNs: bigint;
  };
}

/**
 * The hold of a stopped unit; undefined: none, because it would not come back, or nothing of it was running. A unit
 * that systemd stops does not restart by itself, so it is held until the condition has cleared. A killed unit restarts
 * as its Restart= says the first time. The second time it is held for at least a minute (back-off), from the third time
 * on until the condition has cleared. A policy acts for what may be no condition of the node: its holds have a
 * time, which begins when the grace period is over.
 */
export function holdOf(
  { unit, decision, stop, evictions, isGraceful, condition, byPolicy }: StoppedUnit,
  held: State['held'],
  nowNs: bigint,
): Hold | undefined {
  const before = held.get(unit);
  const unstarted = before?.start ?? [];
  if (stop?.kind !== 'stop') return undefined;
  const storm = isStorm(evictions);
  const comesBack = stop.restarts || stop.triggers.length > 0 || unstarted.length > 0 || (storm && stop.timers.length > 0);
  if (!comesBack || (!isGraceful && evictions < 2)) return undefined;
  const runs = (name: string): boolean => stop.running.includes(name);
  const start = [...[...stop.triggers, ...stop.timers].filter(runs), ...(stop.restarts ? [unit] : []), ...stop.dependants.filter(runs)];
  if (start.length + unstarted.length === 0) return undefined;
  return {
    unit,
    decision,
    start: [...new Set([...unstarted, ...start])],
    unstarted: unstarted,
    condition,
    untilNs: byPolicy ? nowNs + policyHoldNs(byPolicy, storm) : isGraceful || storm ? undefined : nowNs + BACK_OFF_NS,
  };
}

/** In a storm it is not shorter than before. */
function policyHoldNs({ graceNs, stormNs }: NonNullable<StoppedUnit['byPolicy']>, storm: boolean): bigint {
  return graceNs + (storm && stormNs > BACK_OFF_NS ? stormNs : BACK_OFF_NS);
}

/** The unit ended before evictd acted: only what was stopped earlier must still be started. */
export function withoutHold(held: State['held'], unit: string, decision: number): State['held'] {
  const hold = held.get(unit);
  if (hold?.decision !== decision) return held;
  const rest = new Map(held);
  if (hold.unstarted.length === 0) rest.delete(unit);
  else rest.set(unit, { ...hold, start: hold.unstarted });
  return rest;
}

/** The holds that end now. */
export function released(
  { held, conditions, episodes }: Pick<State, 'held' | 'conditions' | 'episodes'>,
  evictions: readonly EvictionInFlight[],
  nowNs: bigint,
): Hold[] {
  return [...held.values()].filter(({ unit, condition, untilNs, startRequested }) => {
    if (startRequested) return false;
    if (evictions.some(({ decision }) => decision.victim.workload.unit?.name === unit)) return false;
    if ([...episodes.values()].some(({ signal }) => SIGNAL_FACTS[signal].condition === condition)) return false;
    return untilNs === undefined ? !conditions.includes(condition) : nowNs >= untilNs;
  });
}
