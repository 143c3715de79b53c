import type { ScopeReading } from './scope-reading.js';

/** Readings of one scope, the newest last. Never empty. */
export interface ScopeHistory {
  readonly readings: readonly ScopeReading[];
}

/** Readings are dropped as they age: a gap is at most this part of the age of what is behind it. */
const GAP_OF_AGE = 8n;

/**
 * The history with one more reading, as far back as `windowNs`. Old readings are thinned out, so that it stays bounded:
 * a window reaches back at most an eighth further than it says. A cgroup that was made anew starts anew.
 *
 * @param windowNs  the longest window of the conditions; 0: only the last reading is kept
 */
export function remember(history: ScopeHistory | undefined, reading: ScopeReading, windowNs: bigint): ScopeHistory {
  const before = history?.readings ?? [];
  const last = before.at(-1);
  if (windowNs === 0n || last === undefined || last.id !== reading.id) return { readings: [reading] };
  if (history !== undefined && last.timeNs >= reading.timeNs) return history;
  return { readings: thinned(before, reading, windowNs) };
}

/** What was read before and one thing more, with as much as a window of this length needs. */
function thinned<T extends Pick<ScopeReading, 'timeNs'>>(before: readonly T[], newest: T, windowNs: bigint): readonly T[] {
  const nowNs = newest.timeNs;
  const kept = [newest];
  for (let at = before.length - 1; at >= 0; at--) {
    const [newer, one, older] = [kept.at(-1), before[at], before[at - 1]];
    if (newer === undefined || one === undefined || newer.timeNs <= nowNs - windowNs) break;
    const mayGo = older !== undefined && (newer.timeNs - older.timeNs) * GAP_OF_AGE <= nowNs - older.timeNs;
    if (!mayGo) kept.push(one);
  }
  return kept.reverse();
}

export function latest({ readings }: ScopeHistory): ScopeReading | undefined {
  return readings.at(-1);
}

/** The newest reading that is at least so old; undefined: the history does not reach back so far. */
export function readingBefore({ readings }: ScopeHistory, ageNs: bigint): ScopeReading | undefined {
  const last = readings.at(-1);
  return last && readings.findLast(({ timeNs }) => timeNs <= last.timeNs - ageNs);
}

/** What one pass has read of the cgroups of scopes, all at the same time. */
export interface ScopePass {
  readonly timeNs: bigint;
  /** By path. */
  readonly readings: ReadonlyMap<string, ScopeReading>;
}

/** As many passes as the windows of conditions about cgroups need, the newest last. All policies share them. */
export type ScopePasses = readonly ScopePass[];

export const NO_PASSES: ScopePasses = [];

/**
 * The passes with one more, as far back as `windowNs`. Older ones are thinned out.
 *
 * @param scopes  the readings of scopes; the same ones may come twice
 * @param windowNs  the longest window; 0: nothing is kept
 */
export function rememberPass(before: ScopePasses, scopes: Iterable<readonly ScopeReading[]>, windowNs: bigint): ScopePasses {
  if (windowNs === 0n) return NO_PASSES;
  const readings = new Map<string, ScopeReading>();
  for (const scope of new Set(scopes)) for (const reading of scope) readings.set(reading.path, reading);
  const [first] = readings.values();
  if (first === undefined || (before.at(-1)?.timeNs ?? first.timeNs - 1n) >= first.timeNs) return before;
  return thinned(before, { timeNs: first.timeNs, readings }, windowNs);
}

/** The history of the cgroup of this reading, which is its newest. A cgroup that was made anew starts anew. */
export function historyIn(passes: ScopePasses, reading: ScopeReading): ScopeHistory {
  const readings = [reading];
  for (let at = passes.length - 1; at >= 0; at--) {
    const one = passes[at]?.readings.get(reading.path);
    if (one === undefined || one.timeNs >= reading.timeNs) continue;
    if (one.id !== reading.id) break;
    readings.push(one);
  }
  return { readings: readings.reverse() };
}
