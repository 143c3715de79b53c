import { isPressure, pressureParts, type Signal, type StallAverage } from './signal.js';
import type { Policy, State } from './state.js';
import { operandsOf, type Threshold } from './threshold.js';

/** How much of the past the kernel's averages are mostly made of. */
const AVERAGED_NS: Readonly<Record<Exclude<StallAverage, ''>, bigint>> = {
  '.avg10': 10_000_000_000n,
  '.avg60': 60_000_000_000n,
  '.avg300': 300_000_000_000n,
};

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
  if (!isPressure(signal)) return 0n;
  const { average } = pressureParts(signal);
  return average === '' ? pressureWindowNs : AVERAGED_NS[average];
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
