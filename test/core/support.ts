import type { Observations } from '../../src/core/observation.js';
import { parseQuantity } from '../../src/core/quantity.js';
import type { Signal } from '../../src/core/signal.js';
import type { Policy } from '../../src/core/state.js';
import type { Threshold, ThresholdValue } from '../../src/core/threshold.js';
import type { Candidates, Workload } from '../../src/core/workload.js';

export const SECOND = 1_000_000_000n;
export const Mi = 1024n * 1024n;
export const Gi = 1024n * Mi;

export function value(text: string): ThresholdValue {
  return text.endsWith('%')
    ? { kind: 'percentage', fraction: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100), text }
    : { kind: 'quantity', quantity: parseQuantity(text) };
}

export function threshold(signal: Signal, limit: string, options: { graceSeconds?: number; minReclaim?: string } = {}): Threshold {
  return {
    signal,
    value: value(limit),
    gracePeriodNs: BigInt(options.graceSeconds ?? 0) * SECOND,
    minReclaim: options.minReclaim === undefined ? undefined : value(options.minReclaim),
  };
}

export function policy(thresholds: readonly Threshold[], overrides: Partial<Policy> = {}): Policy {
  return {
    thresholds,
    pressureTransitionPeriodNs: 300n * SECOND,
    maxPodGracePeriodNs: 10n * SECOND,
    hasWorkloadSource: true,
    dryRun: false,
    ...overrides,
  };
}

/** Readings taken at `timeNs`: signal → available, with a capacity of 1Gi for bytes and 1000 for counts. */
export function observations(timeNs: bigint, available: Partial<Record<Signal, bigint>>): Observations {
  const observed = Object.entries(available).map(([signal, amount]) => {
    const capacity = signal.endsWith('.available') && signal !== 'pid.available' ? Gi : 1000n;
    return [signal as Signal, { available: amount, capacity, timeNs, source: 'test' }] as const;
  });
  return { observed: new Map(observed), missing: new Map() };
}

export function workload(name: string, overrides: Partial<Workload> = {}): Workload {
  return {
    id: `id-${name}`,
    name,
    path: `/${name}`,
    priority: 0,
    requests: { memory: 0n },
    terminationGracePeriodNs: undefined,
    startOrder: 0n,
    protection: undefined,
    ...overrides,
  };
}

/** Candidates with a usage each; the working set is the whole of it. */
export function candidates(...usages: [Workload, bigint][]): Candidates {
  return {
    usages: usages.map(([item, usageBytes]) => ({ workload: item, usageBytes, workingSetBytes: usageBytes })),
    unreadable: [],
    timeNs: 0n,
  };
}
