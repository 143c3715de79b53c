import type { NamedBudgetStatus } from '../core/disruption/disruption-budget.js';
import type { Taint } from '../core/disruption/taint.js';
import type { KubernetesStatus } from '../core/kubernetes/kubernetes-status.js';
import type { EvictionSignal } from '../core/message/eviction-signal.js';
import type { Observations } from '../core/signal/observation.js';
import type { Candidate } from '../core/rank/first-candidates.js';
import type { Stall } from '../core/signal/pressure-share.js';
import type { TimedPause } from '../core/message/pause-message.js';
import type { ConditionType, Resource } from '../core/signal/signal.js';
import type { Threshold } from '../core/threshold/threshold.js';
import type { NotifierState } from '../monitor/ports/ports.js';
import type { Metrics } from '../monitor/ports/metrics.js';
import type { WorkloadEvictions } from './workload-series.js';

/** A metric as Prometheus describes it. docs/metrics.md has the same list, checked by a test. */
export interface Definition {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value and its label values in the order of the definition. undefined: no sample. */
export type Sample = readonly [value: number | undefined, ...labels: string[]];

/** What one reading of the node shows. */
export interface NodeReading {
  readonly observations: Observations;
  readonly thresholds: readonly Threshold[];
  readonly notifierStates: readonly NotifierState[];
  /** How long tasks have waited so far. Empty: not measured. */
  readonly stalls: readonly Stall[];
}

/** What the monitor published last. */
export interface Latest extends NodeReading {
  readonly conditions: ReadonlySet<ConditionType>;
  /** The candidates of a signal in the order of eviction, if evictd has ranked them a short time ago. */
  readonly candidates: ReadonlyMap<EvictionSignal, readonly Candidate[]>;
  /** Evictions of the workloads that were evicted last. */
  readonly workloadEvictions: readonly WorkloadEvictions[];
  readonly reclaimSteps: readonly string[];
  readonly hooks: readonly string[];
  readonly notifications: readonly string[];
  /** Names. */
  readonly disruptionBudgets: readonly string[];
  /** What they permit now. */
  readonly budgetStatuses: () => readonly NamedBudgetStatus[];
  readonly heldUnits: number;
  /** Evictions that may still be made for the resource; undefined: they are not limited, or none is known. */
  readonly remainingBudget: (resource: Resource) => number | undefined;
  /** Why evictd evicts nothing; undefined: it evicts. */
  readonly safeMode: string | undefined;
  readonly pauses: readonly TimedPause[];
  /** The taints in force. Those that stand for a condition are left out. */
  readonly taints: readonly Taint[];
  /** Evictions that wait until a toleration ends. */
  readonly taintEvictions: readonly TimedTaintEviction[];
  /** The last shutdown of the machine, in seconds since 1970; 0: not since evictd started, or not over. */
  readonly shutdown: { readonly startSeconds: number; readonly endSeconds: number };
  /**
   * Whether the last configuration that was read is in force, and when the one in force was read, in seconds since
   * 1970.
   */
  readonly config: { readonly taken: boolean; readonly sinceSeconds: number };
  /** Reads it; undefined: no API server is configured. */
  readonly kubernetes: () => KubernetesStatus | undefined;
  /** Time since the last tick or pass; undefined: there was none. */
  readonly sampleAgeNs: () => bigint | undefined;
}

/** An eviction that waits until the toleration of a taint ends. */
export interface TimedTaintEviction {
  readonly name: string;
  readonly path: string;
  readonly taint: string;
  /** RFC 3339. */
  readonly endsAt: string;
}

/** Values that other parts of evictd keep. */
export interface OwnValues {
  readonly version: string;
  readonly dryRun: boolean;
  readonly journalErrors: () => number;
  readonly journalLostRecords: () => number;
  readonly logLinesDropped: () => number;
  /** The memory nodes of a machine with several, read now; else empty. */
  readonly memoryNodes: () => readonly { readonly node: number; readonly availableBytes: bigint; readonly capacityBytes: bigint }[];
}

/** A metric that one reading of the node is enough for. */
export interface NodeMetric extends Definition {
  readonly type: 'gauge' | 'counter';
  readonly read: (reading: NodeReading) => readonly Sample[];
}

/** A value for an event of the monitor; undefined: none for this one. */
export type OnEvent<T> = { readonly [Event in keyof Metrics]?: (...args: Parameters<Metrics[Event]>) => T | undefined };

/** Read at every scrape. */
export interface ReadMetric extends Definition {
  readonly type: 'gauge' | 'counter';
  readonly read: (latest: Latest, own: OwnValues) => readonly Sample[];
}

export interface EventCounter extends Definition {
  readonly type: 'counter';
  /** The number by which an event raises the counter. */
  readonly on: OnEvent<readonly [count: number, ...labels: string[]]>;
  /** Series that exist from the start, at 0: their first event is an increase that rate() sees. */
  readonly initial: (latest: Latest) => readonly (readonly string[])[];
  /** The number of the decision that an event belongs to, for the exemplar. Left out: none. */
  readonly decision?: OnEvent<number>;
}

/** A distribution of the values of events. */
export interface EventHistogram extends Definition {
  readonly type: 'histogram';
  readonly buckets: readonly number[];
  readonly on: OnEvent<number>;
  readonly decision: OnEvent<number>;
}

export type Metric = ReadMetric | EventCounter | EventHistogram;

type Read = ReadMetric['read'];

export function gauge<R extends Read>(
  name: string,
  help: string,
  read: R,
  labels: readonly string[] = [],
): Definition & { type: 'gauge'; read: R } {
  return { type: 'gauge', name, help, labels, read };
}

/** A counter that something else keeps. */
export function readCounter(name: string, help: string, read: Read, labels: readonly string[] = []): ReadMetric {
  return { type: 'counter', name, help, labels, read };
}

export function eventCounter(
  name: string,
  help: string,
  labels: readonly string[],
  on: EventCounter['on'],
  initial: EventCounter['initial'],
  decision?: EventCounter['decision'],
): EventCounter {
  return { type: 'counter', name, help, labels, on, initial, ...(decision && { decision }) };
}
