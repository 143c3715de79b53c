import { fc } from '../support/property.js';
import { DEPARTURES, departuresOf, type Departures } from '../../src/core/decide/departures.js';
import type { VictimReading } from '../../src/core/decide/eviction.js';
import type { StepInput } from '../../src/core/decide/step-input.js';
import type { Collection } from '../../src/core/signal/layout.js';
import type { Observation } from '../../src/core/signal/observation.js';
import { isPressure, SIGNALS, type Resource, type Signal } from '../../src/core/signal/signal.js';
import type { Policy } from '../../src/core/decide/state.js';
import type { Threshold, ThresholdKind } from '../../src/core/threshold/threshold.js';
import type { Candidates, Protection, Workload } from '../../src/core/workload/workload.js';
import { SECOND, stats, threshold, workload } from './support.js';

/** Around the limits that thresholds are drawn with, and the largest and the absurd. */
const amount = fc.oneof(fc.bigInt(0n, 12n), fc.constantFrom(-1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n));
const limit = fc.oneof(
  fc.integer({ min: 1, max: 10 }).map(String),
  fc.constantFrom('10%', '50%', '99.9%', '0.0%', '100.0%', '1Gi', '9223372036854775807', '1.5', '1n'),
);

export const anyThreshold: fc.Arbitrary<Threshold> = fc
  .record({
    signal: fc.constantFrom<Signal>(...SIGNALS),
    limit,
    graceSeconds: fc.constantFrom(0, 0, 1, 10, 30),
    minReclaim: fc.option(limit, { nil: undefined }),
    listed: fc.option(
      fc.record({
        kind: fc.constantFrom<ThresholdKind>('hard', 'soft'),
        also: fc.array(fc.record({ signal: fc.constantFrom<Signal>(...SIGNALS), limit }), { maxLength: 2 }),
      }),
      { nil: undefined, freq: 2 },
    ),
  })
  .map(({ signal, limit, graceSeconds, minReclaim, listed }) => {
    // no configuration gives pressure one: evictionMinimumReclaim is for amounts
    const hasMinReclaim = minReclaim !== undefined && !isPressure(signal);
    const own = threshold(signal, limit, { graceSeconds, ...(hasMinReclaim && { minReclaim }) });
    if (listed === undefined) return own;
    const also = listed.also.map((other) => ({ signal: other.signal, value: threshold(other.signal, other.limit).value }));
    return { ...own, minReclaim: undefined, kind: listed.kind, ...(also.length > 0 && { also }) };
  });

export const anyDepartures: fc.Arbitrary<Departures> = fc.oneof(
  fc.constantFrom(departuresOf('evictd'), departuresOf('kubelet')),
  fc.array(fc.boolean(), { minLength: DEPARTURES.length, maxLength: DEPARTURES.length }).map((on) => {
    return departuresOf('evictd', Object.fromEntries(DEPARTURES.map((name, index) => [name, on[index] ?? true])));
  }),
);

export const anyPolicy: fc.Arbitrary<Policy> = fc.record({
  thresholds: fc.array(anyThreshold, { maxLength: 5 }),
  pressureTransitionPeriodNs: fc.constantFrom(0n, 1n, 10n * SECOND, 300n * SECOND),
  maxPodGracePeriodNs: fc.constantFrom(0n, SECOND, 60n * SECOND, -SECOND),
  departures: anyDepartures,
  monitoringIntervalNs: fc.constantFrom(SECOND, 10n * SECOND),
  hasWorkloadSource: fc.boolean(),
  evictable: fc.constantFrom<ReadonlySet<Resource>>(new Set(['memory']), new Set(['memory', 'ephemeral-storage', 'inodes', 'pids'])),
  collections: fc.constantFrom<ReadonlySet<Collection>>(new Set(), new Set(['images']), new Set(['containers', 'images'])),
  localStorageCapacityIsolation: fc.boolean(),
  dryRun: fc.boolean(),
});

const protection = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Protection>({ kind: 'critical' }, { kind: 'static' }, { kind: 'self' }, { kind: 'contains', name: 'x' }),
  },
);

const anyWorkload: fc.Arbitrary<Workload> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd', ''), // names may come twice
    priority: fc.constantFrom(-(2 ** 31), -1, 0, 1, 2 ** 31 - 1),
    request: amount,
    terminationGracePeriodNs: fc.constantFrom(undefined, 0n, 30n * SECOND),
    startOrder: fc.bigInt(0n, 2n),
    protection,
  })
  .map(({ request, ...rest }) => workload(rest.name, { ...rest, requests: { memory: request, ephemeralStorage: request, inodes: 0n } }));

const known = fc.option(amount, { nil: undefined });

export const anyCandidates: fc.Arbitrary<Candidates> = fc
  .array(fc.tuple(anyWorkload, fc.option(fc.tuple(known, known, known), { nil: undefined })), { maxLength: 6 })
  .map((all) => ({
    usages: all.map(([each, numbers], index) => ({
      workload: { ...each, id: `${each.name}#${String(index)}` },
      stats:
        numbers && stats({ workingSetBytes: numbers[0], usageBytes: numbers[0], processes: numbers[1], ephemeralStorageBytes: numbers[2] }),
    })),
    unreadable: [],
    timeNs: 0n,
  }));

const anyObservation: fc.Arbitrary<Observation> = fc.record({
  available: amount,
  capacity: amount,
  timeNs: fc.option(fc.bigInt(0n, 1000n * SECOND), { nil: undefined }),
  source: fc.constant('drawn'),
});

/** What may become of a victim between two steps. */
const anyReading: fc.Arbitrary<VictimReading> = fc.record({
  processes: fc.constantFrom(undefined, 0, 1),
  usageBytes: known,
  removed: fc.boolean(),
  vanished: fc.boolean(),
  error: fc.constantFrom(undefined, undefined, 'EPERM'),
  passing: fc.constantFrom('unsent', 'in part', undefined),
  signalledAtNs: fc.option(fc.bigInt(0n, 1000n * SECOND), { nil: undefined }),
});

/** The input of one step; each victim gets one reading. */
export interface StepInputs {
  readonly afterNs: bigint;
  readonly layout: StepInput['layout'];
  readonly observed: ReadonlyMap<Signal, Observation> | undefined;
  readonly reading: VictimReading | undefined;
  readonly reclaimed: boolean;
  readonly candidates: Candidates;
}

/** Mostly an interval later; sometimes at once, much later, or before. */
const afterNs = fc.oneof(fc.constantFrom(10n * SECOND, SECOND, 0n, 1n), fc.bigInt(-100n * SECOND, 400n * SECOND));

const observed = fc
  .array(fc.tuple(fc.constantFrom<Signal>(...SIGNALS), anyObservation), { maxLength: 9 })
  .map((entries): ReadonlyMap<Signal, Observation> => new Map(entries));

export const anyStepInputs: fc.Arbitrary<StepInputs> = fc.record({
  afterNs,
  layout: fc.constantFrom<StepInput['layout']>('single', 'imagefs', 'split', { error: 'not known' }),
  observed: fc.option(observed, { nil: undefined, freq: 10 }),
  reading: fc.option(anyReading, { nil: undefined }),
  reclaimed: fc.boolean(),
  candidates: anyCandidates,
});
