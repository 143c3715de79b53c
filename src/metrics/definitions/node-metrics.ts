import {
  CONDITION_TYPES,
  isPressure,
  SIGNAL_FACTS,
  STALL_KINDS,
  STALL_RESOURCES,
  type ConditionType,
  type Signal,
  type SignalUnit,
} from '../../core/signal/signal.js';
import { ratioOf } from '../../core/signal/pressure-share.js';
import { allMet, isListed, operandsOf, resolve, thresholdKind, whenText } from '../../core/threshold/threshold.js';
import { gauge, type Definition, type NodeMetric, type NodeReading, type ReadMetric, type Sample } from '../metric-types.js';

export type AmountUnit = Exclude<SignalUnit, 'share'>;

export const AMOUNT_UNITS: readonly AmountUnit[] = ['bytes', 'inodes', 'processes'];

/** A metric for each unit: bytes and processes are not comparable. */
const byUnit = (
  stem: string,
  help: (unit: AmountUnit) => string,
  read: (reading: NodeReading) => readonly Sample[],
  labels: readonly string[],
) =>
  AMOUNT_UNITS.map((unit) =>
    gauge(
      `evictd_signal_${stem}_${unit}`,
      help(unit),
      (reading: NodeReading) => read(reading).filter(([, signal]) => SIGNAL_FACTS[signal as Signal].unit === unit),
      labels,
    ),
  );

const SIGNAL_AMOUNTS: readonly NodeMetric[] = [
  ...byUnit('available', (unit) => `Available ${unit}.`, amountSamples('available'), ['eviction_signal']),
  ...byUnit('capacity', (unit) => `Capacity in ${unit}.`, amountSamples('capacity'), ['eviction_signal']),
  ...byUnit(
    'threshold',
    (unit) => `The threshold is met when fewer ${unit} are available.`,
    ({ thresholds, observations }) =>
      thresholds
        .filter((threshold) => !isListed(threshold))
        .map((threshold) => {
          const observed = observations.observed.get(threshold.signal);
          const limit = observed ?? (threshold.value.kind === 'quantity' ? { capacity: 0n } : undefined);
          return [limit && Number(resolve(threshold.value, limit.capacity)), threshold.signal, thresholdKind(threshold)];
        }),
    ['eviction_signal', 'kind'],
  ),
];

const SIGNAL_PRESSURE = gauge(
  'evictd_signal_pressure_ratio',
  'Share of wall time in which tasks waited, 0 to 1.',
  ({ observations }: NodeReading) =>
    [...observations.observed]
      .filter(([signal]) => isPressure(signal))
      // A substitute has a name of its own (memory.pressure.full.avg10): it differs from what a running evictd exports.
      .map(([signal, observation]) => [ratioOf(observation), observation.standIn ? `${signal}.${observation.standIn}` : signal]),
  ['eviction_signal'],
);

const THRESHOLD_MET = gauge(
  'evictd_threshold_met',
  '1 while all operands of an entry of thresholds are met, else 0.',
  ({ thresholds, observations }: NodeReading) =>
    thresholds.filter(isListed).map((threshold) => {
      const isAbsent = operandsOf(threshold).some(({ signal }) => observations.absent?.has(signal));
      const met = isAbsent ? false : allMet(threshold, observations, false);
      return [met === undefined ? undefined : met ? 1 : 0, whenText(threshold), thresholdKind(threshold)];
    }),
  ['when', 'kind'],
);

/** Named as in node_exporter: waiting is the kernel's some, stalled its full. */
const PRESSURE_TOTALS: readonly NodeMetric[] = STALL_RESOURCES.flatMap((resource) =>
  STALL_KINDS.map((kind) => ({
    type: 'counter',
    name: `evictd_pressure_${resource}_${kind === 'some' ? 'waiting' : 'stalled'}_seconds_total`,
    help: kind === 'some' ? `Time in which some task waited for ${resource}.` : `Time in which all non-idle tasks waited for ${resource}.`,
    labels: [],
    read: ({ stalls }) => stalls.filter((stall) => stall.resource === resource && stall.kind === kind).map(({ seconds }) => [seconds]),
  })),
);

export const NODE_CONDITION = gauge(
  'evictd_node_condition',
  '1 while the node has the condition, else 0.',
  ({ thresholds, conditions }) => {
    const watched = new Set<ConditionType | undefined>(thresholds.map(({ signal }) => SIGNAL_FACTS[signal].condition));
    return CONDITION_TYPES.filter((type) => watched.has(type)).map((type) => [conditions.has(type) ? 1 : 0, type]);
  },
  ['condition'],
);

const NOTIFIER_LIVE = gauge(
  'evictd_notifier_live',
  '1 while every notifier of this mechanism is armed, 0 while another mechanism or polling replaces one.',
  ({ notifierStates }: NodeReading) =>
    [...new Set(notifierStates.map(({ mechanism }) => mechanism))].map((mechanism) => [
      notifierStates.every((state) => state.live || state.mechanism !== mechanism) ? 1 : 0,
      mechanism,
    ]),
  ['mechanism'],
);

/** The metrics that `evictd check` has, too. */
export const CHECKED_METRICS: readonly NodeMetric[] = [
  ...SIGNAL_AMOUNTS,
  SIGNAL_PRESSURE,
  THRESHOLD_MET,
  ...PRESSURE_TOTALS,
  NOTIFIER_LIVE,
];

/** Exported only by `evictd check`. */
export const CHECK_EXIT_CODE: Definition = {
  type: 'gauge',
  name: 'evictd_check_exit_code',
  help: 'Exit code of evictd check: 0 ok, 1 soft threshold met, 2 hard threshold met, 3 unknown.',
  labels: [],
};

export const NODE_METRICS: readonly ReadMetric[] = [
  ...CHECKED_METRICS,
  NODE_CONDITION,
  gauge(
    'evictd_signal_polled',
    '1 while no notifier watches this signal, so that evictd only polls it.',
    ({ notifierStates }) =>
      [...new Set(notifierStates.map(({ signal }) => signal))].map((signal) => [
        notifierStates.some((state) => state.signal === signal && state.essential && !state.live) ? 1 : 0,
        signal,
      ]),
    ['eviction_signal'],
  ),
  gauge(
    'evictd_sampler_period_seconds',
    'Time between two samples of the native sampler; shorter the nearer the signal is to its threshold.',
    ({ notifierStates }) => {
      const periods = new Map<string, number>(); // the shortest, if a signal has several levels
      for (const { signal, periodMs } of notifierStates) {
        if (periodMs) periods.set(signal, Math.min(periodMs / 1e3, periods.get(signal) ?? Infinity));
      }
      return [...periods].map(([signal, seconds]) => [seconds, signal]);
    },
    ['eviction_signal'],
  ),
  gauge(
    'evictd_memory_node_available_bytes',
    'What processes that are bound to this memory node (NUMA) can get; only on a machine with several.',
    (_latest, own) => own.memoryNodes().map(({ node, availableBytes }) => [Number(availableBytes), String(node)]),
    ['memory_node'],
  ),
  gauge(
    'evictd_memory_node_capacity_bytes',
    'Memory of this memory node.',
    (_latest, own) => own.memoryNodes().map(({ node, capacityBytes }) => [Number(capacityBytes), String(node)]),
    ['memory_node'],
  ),
  gauge('evictd_sample_age_seconds', 'Time since the last tick or pass, at the time of the scrape.', ({ sampleAgeNs }) => {
    const ageNs = sampleAgeNs();
    return [[ageNs === undefined ? undefined : Number(ageNs) / 1e9]];
  }),
];

function amountSamples(of: 'available' | 'capacity') {
  return ({ observations }: NodeReading): readonly Sample[] =>
    [...observations.observed].map(([signal, observed]) => [Number(observed[of]), signal]);
}
