import { withDisks } from '../../src/core/rank/candidate-usages.js';
import { departuresOf, type Departure } from '../../src/core/decide/departures.js';
import type { StepInput } from '../../src/core/decide/step-input.js';
import type { Observations } from '../../src/core/signal/observation.js';
import { parseQuantity } from '../../src/core/quantity/quantity.js';
import { MACHINE_RESOURCES, type Signal } from '../../src/core/signal/signal.js';
import type { Policy } from '../../src/core/decide/state.js';
import type { Threshold, ThresholdValue } from '../../src/core/threshold/threshold.js';
import type { Candidates, Workload, WorkloadStats } from '../../src/core/workload/workload.js';

export const SECOND = 1_000_000_000n;
export const Mi = 1024n * 1024n;
export const Gi = 1024n * Mi;

export function value(text: string): ThresholdValue {
  return text.endsWith('%')
    ? { kind: 'percentage', fraction: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100), text }
    : { kind: 'quantity', quantity: parseQuantity(text) };
}

export function threshold<S extends Signal>(
  signal: S,
  limit: string,
  options: { graceSeconds?: number; minReclaim?: string } = {},
): Threshold & { readonly signal: S } {
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
    departures: departuresOf('evictd'),
    monitoringIntervalNs: 10n * SECOND,
    hasWorkloadSource: true,
    evictable: MACHINE_RESOURCES,
    collections: new Set(),
    localStorageCapacityIsolation: false,
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
    requests: { memory: 0n, ephemeralStorage: 0n, inodes: 0n },
    limits: { memory: undefined, ephemeralStorage: undefined },
    qosClass: 'BestEffort',
    pod: undefined,
    terminationGracePeriodNs: undefined,
    startOrder: 0n,
    protection: undefined,
    ...overrides,
  };
}

/** What a workload asks for, in bytes. */
export function requesting(memoryBytes: bigint): Workload['requests'] {
  return { memory: memoryBytes * 1_000_000_000n, ephemeralStorage: 0n, inodes: 0n };
}

/** Statistics of which nothing is known but what is given. */
export function stats(known: Partial<WorkloadStats>): WorkloadStats {
  return {
    workingSetBytes: undefined,
    usageBytes: undefined,
    processes: undefined,
    ephemeralStorageBytes: undefined,
    containers: [],
    volumes: [],
    ...known,
  };
}

/**
 * The same candidates, each holding as many bytes (and an inode) on nodefs as it uses of memory, all of which would
 * come back.
 */
export function onDisk(found: Candidates): Candidates {
  return withDisks(found, (path) => {
    const bytes = found.usages.find(({ workload: { path: own } }) => own === path)?.stats?.workingSetBytes ?? 0n;
    const amount = { bytes, inodes: 1n };
    return { nodefs: { uses: amount, frees: amount, atNs: 0n }, imagefs: { uses: amount, frees: amount, atNs: 0n } };
  });
}

/** Candidates with a usage each; the working set is the whole of it. */
export function candidates(...usages: [Workload, bigint][]): Candidates {
  return {
    usages: usages.map(([item, usageBytes]) => ({ workload: item, stats: stats({ usageBytes, workingSetBytes: usageBytes }) })),
    unreadable: [],
    timeNs: 0n,
  };
}

/** The input of a step at `nowNs`; by default no eviction is in flight and there are no candidates. */
export function input(nowNs: bigint, observed: Observations | undefined, rest: Partial<StepInput> = {}): StepInput {
  return {
    nowNs,
    layout: 'single',
    observe: () => observed,
    victims: new Map(),
    reclaimed: undefined,
    candidates: () => candidates(),
    ...rest,
  };
}

/** The profile evictd without one departure. */
export function without(departure: Departure): Policy['departures'] {
  return departuresOf('evictd', { [departure]: false });
}
