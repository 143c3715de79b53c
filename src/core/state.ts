import type { ConditionsObserved } from './condition.js';
import type { EvictionInFlight } from './eviction.js';
import type { FirstObserved } from './grace.js';
import type { Observations } from './observation.js';
import type { ConditionType } from './signal.js';
import type { Threshold } from './threshold.js';

/** What a configuration says about deciding. */
export interface Policy {
  readonly thresholds: readonly Threshold[];
  readonly pressureTransitionPeriodNs: bigint;
  readonly maxPodGracePeriodNs: bigint;
  /** Whether a workload source is configured: without one nothing is ever evicted. */
  readonly hasWorkloadSource: boolean;
  readonly dryRun: boolean;
}

/** All that a step remembers for the next one. Times are on the monotonic clock. */
export interface State {
  /** The thresholds in an episode, by id, for messages at its end. */
  readonly episodes: ReadonlyMap<string, Threshold>;
  readonly firstObservedAt: FirstObserved;
  readonly conditionsLastObservedAt: ConditionsObserved;
  readonly conditions: readonly ConditionType[];
  /** Met for their grace period and not yet repaid. */
  readonly thresholdsMet: readonly Threshold[];
  readonly lastObservations: Observations;
  readonly evictions: readonly EvictionInFlight[];
  /** By workload id: until when it is passed over. */
  readonly failedKills: ReadonlyMap<string, bigint>;
  /** What is done once per episode and has been done: alerts, and decisions of a dry run. By what it is, the id of the threshold. */
  readonly settled: ReadonlyMap<string, string>;
  readonly decisions: number;
}

export const initialState: State = {
  episodes: new Map(),
  firstObservedAt: new Map(),
  conditionsLastObservedAt: new Map(),
  conditions: [],
  thresholdsMet: [],
  lastObservations: { observed: new Map(), missing: new Map() },
  evictions: [],
  failedKills: new Map(),
  settled: new Map(),
  decisions: 0,
};
