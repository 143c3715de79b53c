import type { ConditionsObserved } from './condition.js';
import type { Departures } from './departure.js';
import type { EvictionInFlight } from './eviction.js';
import type { FirstObserved } from './grace.js';
import type { Collection, Layout } from './layout.js';
import type { Observations } from './observation.js';
import type { CollectedAt, Reclaim } from './reclaim.js';
import type { ReclaimStep } from './reclaim-step.js';
import type { Hold } from './restart-storm.js';
import type { ConditionType, Resource, Signal } from './signal.js';
import type { Threshold } from './threshold.js';

/** What a configuration says about deciding. */
export interface Policy {
  /** As configured: those of the container filesystem are derived once the layout is known. */
  readonly thresholds: readonly Threshold[];
  readonly pressureTransitionPeriodNs: bigint;
  /** The cap on the termination grace of a soft eviction. The kubelet takes a negative one as it is. */
  readonly maxPodGracePeriodNs: bigint;
  readonly departures: Departures;
  /** Steps are expected to be no further apart than this. */
  readonly monitoringIntervalNs: bigint;
  /** What a pressure signal without an average is the share of. Left out: there is none. */
  readonly pressureWindowNs?: bigint;
  /** Whether a workload source is configured: without one nothing is ever evicted. */
  readonly hasWorkloadSource: boolean;
  /** What evicting one of its workloads is known to give back. */
  readonly evictable: ReadonlySet<Resource>;
  /** What allocatableMemory.available is read from: nobody outside it goes for that. Left out: it is about all candidates, as with a kubelet's pods. */
  readonly allocatableCgroup?: string;
  /** The node-level reclaim that this node can do. */
  readonly collections: ReadonlySet<Collection>;
  /** What the operator lets be done beside them, after them. Left out: nothing. */
  readonly reclaimSteps?: readonly ReclaimStep[];
  /** Whether workloads that exceed their own limits of local storage are evicted. The statistics of all are then read at every step. */
  readonly localStorageCapacityIsolation: boolean;
  readonly dryRun: boolean;
  /** The machine goes down: nobody goes for a soft threshold, and no unit that is kept stopped is started. Left out: it does not. */
  readonly shuttingDown?: true;
}

/** All that a step remembers for the next one. Times are on the monotonic clock. */
export interface State {
  /** undefined: no step knew it yet. */
  readonly layout: Layout | undefined;
  /** When the last step was made. */
  readonly lastStepNs: bigint | undefined;
  /** The thresholds in an episode, by id, for messages at its end. */
  readonly episodes: ReadonlyMap<string, Threshold>;
  readonly firstObservedAt: FirstObserved;
  /** By threshold id: when a new reading last showed it. */
  readonly lastSeenAt: ReadonlyMap<string, bigint>;
  readonly conditionsLastObservedAt: ConditionsObserved;
  readonly conditions: readonly ConditionType[];
  /** Met for their grace period and not yet repaid. */
  readonly thresholdsMet: readonly Threshold[];
  readonly lastObservations: Observations;
  /** Node-level reclaim under way. */
  readonly reclaiming: Reclaim | undefined;
  readonly collectedAt: CollectedAt;
  readonly evictions: readonly EvictionInFlight[];
  /** By threshold id: since when nobody goes because one that may come before him is being measured. A restart begins anew: nothing is measured then. */
  readonly heldUpSince: ReadonlyMap<string, bigint>;
  /** When an eviction last ended with its victim gone; undefined: none has. */
  readonly relievedNs: bigint | undefined;
  /** By workload id: until when it is passed over. */
  readonly failedKills: ReadonlyMap<string, bigint>;
  /** By signal: the value that stood there when an eviction for it was found to have given nothing back (departure no-yield). */
  readonly withoutYield: ReadonlyMap<Signal, bigint>;
  /** By the path of a systemd unit: when it was evicted in the last ten minutes. */
  readonly unitEvictions: ReadonlyMap<string, readonly bigint[]>;
  /** By the name of a systemd unit: what is kept stopped, and has to be started again. */
  readonly held: ReadonlyMap<string, Hold>;
  /** What is done once per episode and has been done: alerts, and decisions of a dry run. By what it is, the id of the threshold. */
  readonly settled: ReadonlyMap<string, string>;
  readonly decisions: number;
}

export const initialState: State = {
  layout: undefined,
  lastStepNs: undefined,
  episodes: new Map(),
  firstObservedAt: new Map(),
  lastSeenAt: new Map(),
  conditionsLastObservedAt: new Map(),
  conditions: [],
  thresholdsMet: [],
  lastObservations: { observed: new Map(), missing: new Map() },
  reclaiming: undefined,
  collectedAt: new Map(),
  evictions: [],
  heldUpSince: new Map(),
  relievedNs: undefined,
  failedKills: new Map(),
  withoutYield: new Map(),
  unitEvictions: new Map(),
  held: new Map(),
  settled: new Map(),
  decisions: 0,
};
