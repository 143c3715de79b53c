import { SIGNAL_FACTS, type Signal } from '../signal/signal.js';
import type { Policy, State } from '../decide/state.js';
import { operandsOf, type Threshold } from './threshold.js';
import { maxBigInt } from '../quantity/integer.js';

/**
 * When a threshold may next cause an eviction. Pressure covers a time span; until the span since the last eviction has
 * passed, the reading does not show whether that eviction helped. undefined: now.
 */
export function countsFromNs(threshold: Threshold, policy: Policy, { relievedNs }: Pick<State, 'relievedNs'>): bigint | undefined {
  if (relievedNs === undefined) return undefined;
  const spanNs = operandsOf(threshold).reduce((longest, { signal }) => maxBigInt(longest, spanOf(signal, policy)), 0n);
  return spanNs === 0n ? undefined : relievedNs + spanNs;
}

/** The thresholds that may cause an eviction now. */
export function counting(thresholds: readonly Threshold[], policy: Policy, state: Pick<State, 'relievedNs'>, nowNs: bigint): Threshold[] {
  return thresholds.filter((threshold) => (countsFromNs(threshold, policy, state) ?? nowNs) <= nowNs);
}

/** The time span of a reading; 0: none. */
function spanOf(signal: Signal, { pressureWindowNs = 0n }: Policy): bigint {
  const { pressure } = SIGNAL_FACTS[signal];
  return pressure === undefined ? 0n : (pressure.spanNs ?? pressureWindowNs);
}
