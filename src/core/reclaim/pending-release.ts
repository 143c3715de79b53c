import type { EvictionInFlight } from '../decide/eviction.js';
import { isStalled } from './eviction-deadline.js';
import type { Observation, Observations } from '../signal/observation.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../signal/signal.js';
import { allMet, type ResourceThreshold } from '../threshold/threshold.js';

interface Pending {
  readonly bytes: bigint;
  readonly processes: bigint;
}

/**
 * Reports whether a threshold waits for victims that are dying: it would not be met if they had given back what they
 * still hold. A victim of any resource gives back memory and process ids. Pressure cannot be credited, so it waits while
 * memory comes back.
 */
export function awaitsRelease(
  threshold: ResourceThreshold,
  observations: Observations,
  evictions: readonly EvictionInFlight[],
  minReclaimOwed: boolean,
  nowNs: bigint,
): boolean {
  const pending = pendingOf(evictions, nowNs);
  if (pending.bytes === 0n && pending.processes === 0n) return false;
  if (isPressure(threshold.signal) && pending.bytes > 0n) return true;
  const observed = new Map([...observations.observed].map(([signal, observation]) => [signal, credited(signal, observation, pending)]));
  return allMet(threshold, { ...observations, observed }, minReclaimOwed) === false;
}

/** Reports whether victims that are dying, of any resource, will still give back memory. */
export function awaitsMemory(evictions: readonly EvictionInFlight[], nowNs: bigint): boolean {
  return pendingOf(evictions, nowNs).bytes > 0n;
}

/** A victim that makes no progress may be stuck in the kernel, so it counts as giving nothing back. */
function pendingOf(evictions: readonly EvictionInFlight[], nowNs: bigint): Pending {
  const dying = evictions.filter(
    (eviction) => eviction.phase === 'dying' && eviction.exitedSinceNs === undefined && !isStalled(eviction, nowNs),
  );
  return {
    bytes: dying.reduce((sum, eviction) => sum + pendingBytes(eviction), 0n),
    processes: dying.reduce((sum, { processes = 0 }) => sum + BigInt(processes), 0n),
  };
}

function pendingBytes({ decision, peakUsageBytes, usageBytes }: EvictionInFlight): bigint {
  const { workingSetBytes = 0n, staysBytes = 0n } = decision.victim.stats ?? {};
  const left = workingSetBytes - staysBytes - (peakUsageBytes - usageBytes);
  return left > 0n ? left : 0n;
}

function credited(signal: Signal, observation: Observation, { bytes, processes }: Pending): Observation {
  const { resource } = SIGNAL_FACTS[signal];
  const more = isPressure(signal) ? 0n : resource === 'memory' ? bytes : resource === 'pids' ? processes : 0n;
  return more === 0n ? observation : { ...observation, available: observation.available + more };
}
