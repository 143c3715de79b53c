import { patienceOf, type EvictionInFlight } from '../decide/eviction.js';

/** Reports whether a dying victim has made no progress for longer than its size explains (departure node-yield). */
export function isStill(eviction: EvictionInFlight, nowNs: bigint): boolean {
  return nowNs - eviction.usageStillSinceNs >= patienceOf(eviction, true).stillNs;
}

/** When it needs a step without any event. */
export function evictionDueNs(eviction: EvictionInFlight, byNode: boolean, nowNs: bigint): bigint {
  if (eviction.phase === 'terminating') return eviction.phaseSinceNs + eviction.decision.graceNs;
  const { stillNs, atMostNs } = patienceOf(eviction, byNode);
  const still = eviction.usageStillSinceNs + stillNs;
  const most = eviction.phaseSinceNs + atMostNs;
  return nowNs < still && still < most ? still : most;
}
