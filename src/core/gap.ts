import type { Policy, State } from './state.js';
import { thresholdId, type Threshold } from './threshold.js';

/** A gap between two steps, or two readings of a signal, that is longer than this many intervals was no observation (departure grace-restart). */
const INTERVALS = 3n;

/** Longer than this without a look is no observation. */
export function gapNs({ monitoringIntervalNs }: Policy): bigint {
  return INTERVALS * monitoringIntervalNs;
}

/** How long a threshold is kept that cannot be read: as long as a condition, and not for one reading that fails. */
export function keepsUnreadNs(policy: Policy): bigint {
  const { pressureTransitionPeriodNs } = policy;
  const gap = gapNs(policy);
  return pressureTransitionPeriodNs > gap ? pressureTransitionPeriodNs : gap;
}

/** Nobody looked for too long, or the clock jumped back. */
export function wasInterrupted(policy: Policy, { lastStepNs }: State, nowNs: bigint): boolean {
  return lastStepNs !== undefined && (nowNs < lastStepNs || nowNs - lastStepNs > gapNs(policy));
}

/** Those that a new reading shows, after more than a gap without one: the filesystem did not answer, the cgroup was not there. */
export function unseen(policy: Policy, { lastSeenAt }: State, updated: readonly Threshold[], nowNs: bigint): Threshold[] {
  return updated.filter((threshold) => nowNs - (lastSeenAt.get(thresholdId(threshold)) ?? nowNs) > gapNs(policy));
}
