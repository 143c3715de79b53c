import type { State } from '../decide/state.js';

type FailedKills = State['failedKills'];

const REFUSED = 'refused ';

/**
 * The key in `failedKills` of a victim that may not be ended with a grace period for now, because a disruption budget of the
 * cluster does not permit it. It got no signal, and a hard threshold asks no budget.
 */
export function refusedKey(id: string): string {
  return `${REFUSED}${id}`;
}

/** What an eviction passes over. One with a grace period also what was refused. */
export function passedOverNow(failedKills: FailedKills, hasGrace: boolean): FailedKills {
  if (!hasGrace || ![...failedKills.keys()].some((key) => key.startsWith(REFUSED))) return failedKills;
  return new Map([...failedKills].map(([key, untilNs]) => [key.startsWith(REFUSED) ? key.slice(REFUSED.length) : key, untilNs]));
}
