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
  const nowNs = reading.timeNs;
  const kept: ScopeReading[] = [reading];
  for (let at = before.length - 1; at >= 0; at--) {
    const [newer, one, older] = [kept.at(-1), before[at], before[at - 1]];
    if (newer === undefined || one === undefined || newer.timeNs <= nowNs - windowNs) break;
    const mayGo = older !== undefined && (newer.timeNs - older.timeNs) * GAP_OF_AGE <= nowNs - older.timeNs;
    if (!mayGo) kept.push(one);
  }
  return { readings: kept.reverse() };
}

export function latest({ readings }: ScopeHistory): ScopeReading | undefined {
  return readings.at(-1);
}

/** The newest reading that is at least so old; undefined: the history does not reach back so far. */
export function readingBefore({ readings }: ScopeHistory, ageNs: bigint): ScopeReading | undefined {
  const last = readings.at(-1);
  return last && readings.findLast(({ timeNs }) => timeNs <= last.timeNs - ageNs);
}
