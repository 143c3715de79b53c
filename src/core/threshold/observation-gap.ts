import type { Policy, State } from '../decide/state.js';
import { thresholdId, type Threshold } from './threshold.js';

/** A longer gap, in intervals, between two steps or two readings counts as no observation (departure grace-restart). */
const INTERVALS = 3n;

export function gapNs({ monitoringIntervalNs }: Policy): bigint {
  return INTERVALS * monitoringIntervalNs;
}

/** How long an unreadable threshold is kept: as long as a condition, and longer than one failed reading. */
export function keepsUnreadNs(policy: Policy): bigint {
  const { pressureTransitionPeriodNs } = policy;
  const gap = gapNs(policy);
  return pressureTransitionPeriodNs > gap ? pressureTransitionPeriodNs : gap;
}

/** No step for too long, or the clock jumped back. */
export function wasInterrupted(policy: Policy, { lastStepNs }: State, nowNs: bigint): boolean {
  return lastStepNs !== undefined && (nowNs < lastStepNs || nowNs - lastStepNs > gapNs(policy));
}

/** Thresholds read again after a gap: the filesystem did not answer, the cgroup did not exist. */
export function unseen(policy: Policy, { lastSeenAt }: State, updated: readonly Threshold[], nowNs: bigint): Threshold[] {
  return updated.filter((threshold) => nowNs - (lastSeenAt.get(thresholdId(threshold)) ?? nowNs) > gapNs(policy));
}
