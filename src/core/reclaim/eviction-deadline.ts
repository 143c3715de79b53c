import { exitTimeoutsOf, type EvictionInFlight } from '../decide/eviction.js';

/** Reports whether a dying victim has made no progress for longer than its size explains (departure node-yield). */
export function isStalled(eviction: EvictionInFlight, nowNs: bigint): boolean {
  return nowNs - eviction.usageStillSinceNs >= exitTimeoutsOf(eviction, true).noProgressNs;
}

/** When it needs a step without any event. */
export function evictionDueNs(eviction: EvictionInFlight, byNode: boolean, nowNs: bigint): bigint {
  if (eviction.phase === 'terminating') return eviction.phaseSinceNs + eviction.decision.graceNs;
  const { noProgressNs, totalNs } = exitTimeoutsOf(eviction, byNode);
  const still = eviction.usageStillSinceNs + noProgressNs;
  const most = eviction.phaseSinceNs + totalNs;
  return nowNs < still && still < most ? still : most;
}
