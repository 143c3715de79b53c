import type { Departures } from '../decide/departures.js';
import { amountOfResource } from '../quantity/amount.js';
import { SIGNAL_FACTS, type ResourceSignal } from '../signal/signal.js';
import type { Workload } from '../workload/workload.js';
import { NANO } from '../quantity/integer.js';

export type Compare<T> = (a: T, b: T) => number;

/** What the order of eviction compares of a ranked workload. A row of the journal has it, too. */
export interface Compared {
  /** undefined: no statistics. */
  readonly stats: object | undefined;
  readonly usage: bigint | undefined;
  readonly exceedsRequest: boolean;
  readonly priority: number;
  readonly aboveRequestNano: bigint;
  readonly workload: Pick<Workload, 'avoid' | 'startOrder' | 'name' | 'id'>;
}

export type ComparatorName = 'avoid' | 'exceeds-request' | 'priority' | 'above-request' | 'youngest' | 'name' | 'id';

export interface RankComparator {
  readonly name: ComparatorName;
  /** Below 0: the first is evicted before the second. */
  readonly compare: Compare<Compared>;
  /** The compared value, for people. */
  readonly valueOf: (of: Compared) => string;
}

const UNKNOWN = 1;

/** The kubelet's: workloads without statistics, then those above their request. A missing number counts as 0. */
function classByStats({ stats, exceedsRequest }: Compared): number {
  return stats === undefined ? UNKNOWN : exceedsRequest ? 2 : 3;
}

/** Departure `unknown-usage`: workloads known to exceed their request come first. */
function classByUsage({ usage, exceedsRequest }: Compared): number {
  return usage === undefined ? UNKNOWN : exceedsRequest ? 0 : 2;
}

const order = <T extends bigint | string>(a: T, b: T): number => (a === b ? 0 : a < b ? -1 : 1);

/** Workloads with preference avoid come last. */
const AVOID: RankComparator = {
  name: 'avoid',
  compare: (a, b) => Number(a.workload.avoid ?? false) - Number(b.workload.avoid ?? false),
  valueOf: ({ workload }) => (workload.avoid ? 'yes' : 'no'),
};
const PRIORITY: RankComparator = {
  name: 'priority',
  compare: (a, b) => a.priority - b.priority,
  valueOf: ({ priority }) => String(priority),
};
/** Departure `total-order`: they break every tie. */
const TIES: readonly RankComparator[] = [
  {
    name: 'youngest',
    compare: (a, b) => order(b.workload.startOrder, a.workload.startOrder),
    valueOf: ({ workload }) => String(workload.startOrder),
  },
  { name: 'name', compare: (a, b) => order(a.workload.name, b.workload.name), valueOf: ({ workload }) => workload.name },
  { name: 'id', compare: (a, b) => order(a.workload.id, b.workload.id), valueOf: ({ workload }) => workload.id },
];

/**
 * The comparators of the order of eviction, the first one first (kubelet: eviction/helpers.go, rankMemoryPressure,
 * rankDiskPressureFunc, rankPIDPressure, v1.36.2): the class, then lower priority, then more usage above the request;
 * for processes the priority before the class.
 */
export function comparatorsOf(
  signal: ResourceSignal,
  departures: Pick<Departures, 'unknown-usage' | 'total-order'>,
): readonly RankComparator[] {
  const { priorityFirst, resource } = SIGNAL_FACTS[signal];
  const classOf = departures['unknown-usage'] ? classByUsage : classByStats;
  const exceeds: RankComparator = {
    name: 'exceeds-request',
    compare: (a, b) => classOf(a) - classOf(b),
    valueOf: (of) => (classOf(of) === UNKNOWN ? 'unknown' : of.exceedsRequest ? 'yes' : 'no'),
  };
  const above: RankComparator = {
    name: 'above-request',
    // Both are in one class here.
    compare: (a, b) => (classOf(a) === UNKNOWN ? 0 : order(b.aboveRequestNano, a.aboveRequestNano)),
    valueOf: ({ aboveRequestNano }) => amountOfResource(resource, aboveRequestNano / NANO),
  };
  const first = priorityFirst ? [PRIORITY, exceeds] : [exceeds, PRIORITY];
  return [AVOID, ...first, above, ...(departures['total-order'] ? TIES : [])];
}

/** The comparator by which one of two workloads comes first. undefined: they are equal. */
export function decidingComparator(comparators: readonly RankComparator[], a: Compared, b: Compared): RankComparator | undefined {
  return comparators.find(({ compare }) => compare(a, b) !== 0);
}
