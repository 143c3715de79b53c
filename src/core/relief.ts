import { SIGNAL_FACTS, type Signal } from './signal.js';
import type { Policy, State } from './state.js';
import { operandsOf, type Threshold } from './threshold.js';

/**
 * From when on a threshold may ask for an eviction again. Pressure tells of a time that has passed: as long as some of that was before the end of the last
 * eviction, nobody knows whether it has helped, and whoever is evicted next goes for what is over. undefined: at once.
 */
export function countsFromNs(threshold: Threshold, policy: Policy, { relievedNs }: Pick<State, 'relievedNs'>): bigint | undefined {
  if (relievedNs === undefined) return undefined;
  const spanNs = operandsOf(threshold).reduce((longest, { signal }) => max(longest, spanOf(signal, policy)), 0n);
  return spanNs === 0n ? undefined : relievedNs + spanNs;
}

/** Those that may ask for an eviction now. */
export function counting(thresholds: readonly Threshold[], policy: Policy, state: Pick<State, 'relievedNs'>, nowNs: bigint): Threshold[] {
  return thresholds.filter((threshold) => (countsFromNs(threshold, policy, state) ?? nowNs) <= nowNs);
}

/** The time that a reading tells of; 0: of the moment. */
function spanOf(signal: Signal, { pressureWindowNs = 0n }: Policy): bigint {
  const { pressure } = SIGNAL_FACTS[signal];
  return pressure === undefined ? 0n : (pressure.spanNs ?? pressureWindowNs);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
