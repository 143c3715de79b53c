import type { EvictionInFlight } from './eviction.js';
import { SIGNAL_FACTS, type ConditionType } from './signal.js';
import type { State } from './state.js';
import type { UnitStop } from './unit-stop.js';

/** Evictions of a unit count together for this long. */
const WINDOW_NS = 600_000_000_000n;
/** With this many evictions in the window a unit that comes back is a storm. */
const STORM = 3;
/** A unit that has come back once is kept stopped for at least this long. */
const BACK_OFF_NS = 60_000_000_000n;

/** A unit that evictd has stopped through systemd and that would otherwise have come back: to be started again. */
export interface Hold {
  /** systemd's name for it. */
  readonly unit: string;
  /** The decision that stopped it last. */
  readonly decision: number;
  /** What is started in the end, in this order: its sockets, paths and timers, itself where it restarts by itself, and what was stopped with it. */
  readonly start: readonly string[];
  /** What of it was stopped by a decision before, and never started again: somebody else has started the unit meanwhile. */
  readonly owed: readonly string[];
  readonly condition: ConditionType;
  /** Started again from then on, and not while a threshold of the condition is met; undefined: when the condition has cleared. */
  readonly untilNs: bigint | undefined;
  /** systemd is asked to start it, and has not answered yet. */
  readonly asked?: true;
}

/**
 * What has become of a unit that is kept stopped. `started`: systemd has answered that it starts it, or why it does not. `lost`: the answer was lost with the connection.
 * `not stopped`: systemd has refused to stop it. `started by somebody`: it was stopped, and runs.
 */
export type HoldNews = 'started' | 'lost' | 'not stopped' | 'started by somebody';

/** What is left of what is kept stopped. Who starts a unit himself has it, and only its sockets, paths and timers are still owed. */
export function afterNews(held: State['held'], news: ReadonlyMap<string, HoldNews>): State['held'] {
  const left = [...held.values()].flatMap((hold): Hold[] => {
    const { asked: _, ...stopped } = hold;
    switch (news.get(hold.unit)) {
      case undefined:
        return [hold];
      case 'started':
        return [];
      case 'lost':
        return [stopped];
      case 'not stopped':
        return [{ ...stopped, start: hold.owed }];
      case 'started by somebody':
        return [{ ...stopped, start: hold.start.filter((name) => /\.(socket|path|timer)$/.test(name)), owed: [] }];
    }
  });
  return new Map(left.filter(({ start }) => start.length > 0).map((hold) => [hold.unit, hold]));
}

/** How often this unit has been evicted before in the last ten minutes. Exactly ten minutes ago counts no more. */
export function evictionsBefore(path: string, { unitEvictions }: Pick<State, 'unitEvictions'>, nowNs: bigint): number {
  return (unitEvictions.get(path) ?? []).filter((atNs) => nowNs - atNs < WINDOW_NS).length;
}

/** With one more eviction of this unit, and without those that no longer count. */
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
  /** This one included. */
  readonly evictions: number;
  /** It is asked to end: systemd stops it. Otherwise its processes are killed at once. */
  readonly asked: boolean;
  readonly condition: ConditionType;
}

/**
 * Whether a unit is kept stopped, and for how long; undefined: it is not, or it does not come back by itself anyway, or nothing of it was running.
 *
 * What systemd stops does not restart by itself, so that every unit that would have is held until the condition has cleared. What is killed restarts as its Restart= says,
 * the first time. The second time it is stopped as well and held for a minute at least (back-off), from the third time on until the condition has cleared.
 */
export function holdOf(
  { unit, decision, stop, evictions, asked, condition }: StoppedUnit,
  held: State['held'],
  nowNs: bigint,
): Hold | undefined {
  const before = held.get(unit);
  const owed = before?.start ?? [];
  if (stop?.kind !== 'stop') return undefined;
  const storm = isStorm(evictions);
  const comesBack = stop.restarts || stop.triggers.length > 0 || owed.length > 0 || (storm && stop.timers.length > 0);
  if (!comesBack || (!asked && evictions < 2)) return undefined;
  const runs = (name: string): boolean => stop.running.includes(name);
  const start = [...[...stop.triggers, ...stop.timers].filter(runs), ...(stop.restarts ? [unit] : []), ...stop.dependants.filter(runs)];
  if (start.length + owed.length === 0) return undefined;
  return {
    unit,
    decision,
    start: [...new Set([...owed, ...start])],
    owed,
    condition,
    untilNs: asked || storm ? undefined : nowNs + BACK_OFF_NS,
  };
}

/** The unit had gone before anything was done to it: only what was stopped before is still to be started. */
export function withoutHold(held: State['held'], unit: string, decision: number): State['held'] {
  const hold = held.get(unit);
  if (hold?.decision !== decision) return held;
  const rest = new Map(held);
  if (hold.owed.length === 0) rest.delete(unit);
  else rest.set(unit, { ...hold, start: hold.owed });
  return rest;
}

/** Those that may be started again now. */
export function released(
  { held, conditions, episodes }: Pick<State, 'held' | 'conditions' | 'episodes'>,
  evictions: readonly EvictionInFlight[],
  nowNs: bigint,
): Hold[] {
  return [...held.values()].filter(({ unit, condition, untilNs, asked }) => {
    if (asked) return false;
    if (evictions.some(({ decision }) => decision.victim.workload.unit?.name === unit)) return false;
    if ([...episodes.values()].some(({ signal }) => SIGNAL_FACTS[signal].condition === condition)) return false;
    return untilNs === undefined ? !conditions.includes(condition) : nowNs >= untilNs;
  });
}
