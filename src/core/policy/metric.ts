import { AMOUNT_SIGNALS, SIGNAL_FACTS, STALL_KINDS, STALL_RESOURCES } from '../signal/signal.js';
import { PRESSURE_AVERAGES, RAW_VALUES, type RawValue } from './raw-value.js';

/** `share`: of the wall time, 0 to 1. `count`: pages, times, processes, … */
export type MetricUnit = 'bytes' | 'count' | 'seconds' | 'share';

/**
 * `level`: a value now. `counter`: how often in a window, or per second. `growth`: by how much a level rose in a window,
 * per second, or as a share of what it was. `stall`: the share of a window that tasks stalled.
 */
export type MetricKind = 'level' | 'counter' | 'growth' | 'stall';

/** A number of a reading. */
export interface Gauge {
  readonly needs: readonly RawValue[];
  /** undefined: a raw value that it needs is missing. */
  readonly read: (values: ReadonlyMap<RawValue, number>) => number | undefined;
}

/** Something that a condition can be about. */
export interface MetricDefinition {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: MetricUnit;
  /** Left out: a cgroup does not have it. */
  readonly cgroup?: Gauge;
  /** Left out: the node does not have it. */
  readonly node?: Gauge;
  /** What a percentage without `of` is a share of. Left out: there is no such whole. */
  readonly whole?: Gauge;
}

const raw = (value: RawValue): Gauge => ({ needs: [value], read: (values) => values.get(value) });

/** What is used of a capacity. */
function used(available: RawValue, whole: RawValue): Gauge {
  const needs = [available, whole] as const;
  return {
    needs,
    read: (values) => {
      const [available, capacity] = needs.map((value) => values.get(value));
      return available === undefined || capacity === undefined ? undefined : capacity - available;
    },
  };
}

/** The gauges of a value: of a cgroup and of the node where its sources say so. */
function gauges(value: RawValue): Pick<MetricDefinition, 'cgroup' | 'node'> {
  const { v2, v1, node } = RAW_VALUES[value];
  return { ...((v2 ?? v1) && { cgroup: raw(value) }), ...(node && { node: raw(value) }) };
}

function row<Name extends RawValue>(name: Name, kind: 'level' | 'counter', unit: MetricUnit) {
  return { name, kind, unit, ...gauges(name) };
}

const USAGE = { cgroup: raw('memory.current'), node: used('memory.available', 'memory.available.capacity') };
const SWAPPED = { cgroup: raw('memory.swap'), node: used('swap.available', 'swap.available.capacity') };

const signalRows = AMOUNT_SIGNALS.map((name) => {
  const unit: MetricUnit = SIGNAL_FACTS[name].unit === 'bytes' ? 'bytes' : 'count';
  return { name, kind: 'level' as const, unit, node: raw(name), whole: raw(`${name}.capacity`) };
});

const pressureRows = STALL_RESOURCES.flatMap((resource) =>
  STALL_KINDS.flatMap((kind) => {
    const name = `${resource}.pressure.${kind}` as const;
    return [
      { name, kind: 'stall' as const, unit: 'share' as const, ...gauges(`${name}.total`) },
      ...PRESSURE_AVERAGES.map((average) => row(`${name}.${average}`, 'level', 'share')),
    ];
  }),
);

/** All metrics, in the order in which they are documented. */
export const METRIC_LIST = [
  { name: 'memory.current', kind: 'level', unit: 'bytes', ...USAGE },
  row('memory.anon', 'level', 'bytes'),
  row('memory.file', 'level', 'bytes'),
  row('memory.shmem', 'level', 'bytes'),
  { name: 'memory.swap', kind: 'level', unit: 'bytes', ...SWAPPED },
  row('memory.max', 'level', 'bytes'),
  row('memory.high', 'level', 'bytes'),
  row('memory.low', 'level', 'bytes'),
  row('memory.min', 'level', 'bytes'),
  row('memory.swap.max', 'level', 'bytes'),
  { name: 'memory.request', kind: 'level', unit: 'bytes', cgroup: raw('memory.request') },
  {
    name: 'memory.boundNodes.available',
    kind: 'level',
    unit: 'bytes',
    cgroup: raw('memory.boundNodes.available'),
    whole: raw('memory.boundNodes.capacity'),
  },
  {
    name: 'memory.boundNodes.used',
    kind: 'level',
    unit: 'bytes',
    cgroup: used('memory.boundNodes.available', 'memory.boundNodes.capacity'),
    whole: raw('memory.boundNodes.capacity'),
  },
  { name: 'memory.total', kind: 'level', unit: 'bytes', node: raw('memory.available.capacity') },
  { name: 'swap.total', kind: 'level', unit: 'bytes', node: raw('swap.available.capacity') },
  { name: 'memory.growth', kind: 'growth', unit: 'bytes', ...USAGE },
  { name: 'memory.anon.growth', kind: 'growth', unit: 'bytes', ...gauges('memory.anon') },
  { name: 'memory.swap.growth', kind: 'growth', unit: 'bytes', ...SWAPPED },
  ...pressureRows,
  row('pgscan', 'counter', 'count'),
  row('pgsteal', 'counter', 'count'),
  row('workingset_refault', 'counter', 'count'),
  row('pswpout', 'counter', 'count'),
  row('memory.events.low', 'counter', 'count'),
  row('memory.events.high', 'counter', 'count'),
  row('memory.events.max', 'counter', 'count'),
  row('memory.events.oom', 'counter', 'count'),
  row('memory.events.oom_kill', 'counter', 'count'),
  row('io.bytes', 'counter', 'bytes'),
  row('io.operations', 'counter', 'count'),
  row('io.cost', 'counter', 'count'),
  row('processes', 'level', 'count'),
  row('descendants.dying', 'level', 'count'),
  { name: 'age', kind: 'level', unit: 'seconds', cgroup: raw('age') },
  ...signalRows,
] as const satisfies readonly MetricDefinition[];

export type MetricName = (typeof METRIC_LIST)[number]['name'];

export const METRICS = Object.fromEntries(METRIC_LIST.map((definition) => [definition.name, definition])) as Readonly<
  Record<MetricName, MetricDefinition>
>;

export const METRIC_NAMES: readonly MetricName[] = METRIC_LIST.map(({ name }) => name);

export function isMetric(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}
