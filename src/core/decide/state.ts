import type { ReportedEpisodes } from '../threshold/reported-episode.js';
import type { EvictionBudget, EvictionTimes } from '../budget/eviction-budget.js';
import type { GrowthBases } from '../budget/growth-base.js';
import type { ConditionsObserved } from '../threshold/node-condition.js';
import type { Taint } from '../disruption/taint.js';
import type { TaintEvictions, TaintEvaluation } from '../disruption/taint-eviction.js';
import type { Departures } from './departures.js';
import type { DisruptedBudgets, PolicyBudget } from '../disruption/disruption-budget.js';
import type { Drain } from '../drain/drain.js';
import type { Disruptions } from '../disruption/disruption-cause.js';
import type { EvictionInFlight } from './eviction.js';
import type { FirstObserved } from '../threshold/grace-period.js';
import type { Collection, Layout } from '../signal/layout.js';
import type { Observations } from '../signal/observation.js';
import type { OperatorPauses } from '../pause/operator-pause.js';
import type { CollectedAt, Reclaim } from '../reclaim/reclaim.js';
import type { RelievedSince } from '../reclaim/pause-relief.js';
import type { YieldPauses } from '../reclaim/yield-pause.js';
import type { ReclaimStep } from '../reclaim/reclaim-step.js';
import type { Hold } from '../systemd/unit-hold.js';
import { initialPolicyState, type PolicyState } from '../ladder/policy-state.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { ConditionType, Resource } from '../signal/signal.js';
import type { Threshold } from '../threshold/threshold.js';

/** The part of a configuration that decisions depend on. */
export interface Policy {
  /** The configured thresholds. Those of the container filesystem are derived when the layout is known. */
  readonly thresholds: readonly Threshold[];
  readonly pressureTransitionPeriodNs: bigint;
  /** The maximum grace period of a soft eviction. A negative one is used as it is, as in the kubelet. */
  readonly maxPodGracePeriodNs: bigint;
  readonly departures: Departures;
  /** The maximum time between two steps. */
  readonly monitoringIntervalNs: bigint;
  /** The time that a pressure signal without an average covers. Left out: no such signal. */
  readonly pressureWindowNs?: bigint;
  /** Whether there is a workload source. Without one evictd never evicts. */
  readonly hasWorkloadSource: boolean;
  /** The resources that an eviction of its workloads can free. */
  readonly evictable: ReadonlySet<Resource>;
  /**
   * allocatableMemory.available covers this cgroup, and only workloads in it are evicted for that. Left out: all
   * candidates, as with a kubelet's pods.
   */
  readonly allocatableCgroup?: string;
  /** The node-level reclaim that this node supports. */
  readonly collections: ReadonlySet<Collection>;
  /** The operator's additional steps. Left out: none. */
  readonly reclaimSteps?: readonly ReclaimStep[];
  /**
   * Whether workloads over their own storage limits are evicted. Every step then reads the statistics of all workloads.
   */
  readonly localStorageCapacityIsolation: boolean;
  /** The maximum length of a pause by an operator. Left out: there is none. */
  readonly maxPauseNs?: bigint;
  /** Taints of the configuration. Left out: none. */
  readonly taints?: readonly Taint[];
  /** Policies in the order of the configuration. Left out: none. */
  readonly policies?: readonly ConfiguredPolicy[];
  /** Left out: evictions are not limited. */
  readonly evictionBudget?: EvictionBudget;
  /** Left out: none. */
  readonly disruptionBudgets?: readonly PolicyBudget[];
  readonly dryRun: boolean;
  /** The machine is shutting down: soft thresholds evict nothing, and no held unit is started. Left out: it is not. */
  readonly shuttingDown?: true;
  /** evictd crashed several times: nothing is evicted, as without a workload source. Left out: it did not. */
  readonly safeMode?: true;
}

/** The state that a step keeps for the next one. Times are monotonic. */
export interface State {
  /** undefined: not known yet. */
  readonly layout: Layout | undefined;
  readonly lastStepNs: bigint | undefined;
  /** Thresholds that are met or owe min reclaim, by threshold id. */
  readonly episodes: ReadonlyMap<string, Threshold>;
  /** Episodes as reported in journal, log, alerts and metrics. No decision depends on them. */
  readonly reported: ReportedEpisodes;
  readonly firstObservedAt: FirstObserved;
  /** The time of the last new reading, by threshold id. */
  readonly lastSeenAt: ReadonlyMap<string, bigint>;
  readonly conditionsLastObservedAt: ConditionsObserved;
  readonly conditions: readonly ConditionType[];
  /** Met for their grace period, and not repaid yet. */
  readonly thresholdsMet: readonly Threshold[];
  readonly lastObservations: Observations;
  /** The reclaim in progress. */
  readonly reclaiming: Reclaim | undefined;
  readonly collectedAt: CollectedAt;
  readonly evictions: readonly EvictionInFlight[];
  /**
   * The time since which an eviction is delayed by a measurement of a workload, by threshold id. Not kept over a restart.
   */
  readonly measurementAwaitedSince: ReadonlyMap<string, bigint>;
  /** When the last victim had ended; undefined: none has. */
  readonly relievedNs: bigint | undefined;
  /** The time until which the workload is passed over, by workload id. */
  readonly failedKills: ReadonlyMap<string, bigint>;
  /** The time until which a pod is passed over whose eviction a budget or webhook of the cluster refused. It got no signal. */
  readonly refusedEvictions: ReadonlyMap<string, bigint>;
  /**
   * The time until which a drain and operators pass over a pod whose eviction the API server has not answered. It got no signal. Not kept
   * over a restart.
   */
  readonly unansweredEvictions: ReadonlyMap<string, bigint>;
  /** Departure no-yield. */
  readonly withoutYield: YieldPauses;
  /** Not kept over a restart: relief then counts anew. */
  readonly relievedSince: RelievedSince;
  /** Readings since the last eviction for memory, or since evictions wait (departures no-yield and budget). */
  readonly baselines: GrowthBases;
  /** The evictions that the budget counts, by resource, the oldest first (departure budget). */
  readonly evictionTimes: EvictionTimes;
  /** The times of the evictions in the last ten minutes, by unit path. */
  readonly unitEvictions: ReadonlyMap<string, readonly bigint[]>;
  /** Units that are kept stopped and started again later, by unit name. */
  readonly held: ReadonlyMap<string, Hold>;
  /** Events that happen once per reported episode, and have happened: alerts, and decisions of a dry run. By kind, the threshold id. */
  readonly settled: ReadonlyMap<string, string>;
  /** Pauses that operators have set. */
  readonly pauses: OperatorPauses;
  /** Budgets with an eviction by an operator in the last hour, by name. */
  readonly disruptedBudgets: DisruptedBudgets;
  /** Set by operators at run time. */
  readonly taints: readonly Taint[];
  readonly taintEvictions: TaintEvictions;
  /** Not kept over a restart. undefined: not yet. */
  readonly taintsJudged: TaintEvaluation | undefined;
  /** undefined: the node is neither cordoned nor drained. */
  readonly drain: Drain | undefined;
  /** Evictions without regard to the node's readings that are not decided yet. Only those by operators are kept over a restart. */
  readonly disruptions: Disruptions;
  /** Ladders, and what they hold. Not kept over a restart. */
  readonly policies: PolicyState;
  readonly decisions: number;
}

export const initialState: State = {
  layout: undefined,
  lastStepNs: undefined,
  episodes: new Map(),
  reported: new Map(),
  firstObservedAt: new Map(),
  lastSeenAt: new Map(),
  conditionsLastObservedAt: new Map(),
  conditions: [],
  thresholdsMet: [],
  lastObservations: { observed: new Map(), missing: new Map() },
  reclaiming: undefined,
  collectedAt: new Map(),
  evictions: [],
  measurementAwaitedSince: new Map(),
  relievedNs: undefined,
  failedKills: new Map(),
  refusedEvictions: new Map(),
  unansweredEvictions: new Map(),
  withoutYield: new Map(),
  relievedSince: new Map(),
  baselines: new Map(),
  evictionTimes: new Map(),
  unitEvictions: new Map(),
  held: new Map(),
  settled: new Map(),
  pauses: new Map(),
  disruptedBudgets: new Map(),
  taints: [],
  taintEvictions: new Map(),
  taintsJudged: undefined,
  drain: undefined,
  disruptions: new Map(),
  policies: initialPolicyState,
  decisions: 0,
};

/** The time until which an eviction passes over a workload, by id. One without budgets continues where a budget refused another. */
export function passedOverUntil(
  { failedKills, refusedEvictions }: Pick<State, 'failedKills' | 'refusedEvictions'>,
  asksBudgets: boolean,
): State['failedKills'] {
  return asksBudgets && refusedEvictions.size > 0 ? new Map([...failedKills, ...refusedEvictions]) : failedKills;
}
