import { zoneText } from '../core/message/zone-text.js';
import { remainingBudget, type EvictionBudget, type EvictionTimes } from '../core/budget/eviction-budget.js';
import type { NamedBudgetStatus } from '../core/disruption/disruption-budget.js';
import type { Taint } from '../core/disruption/taint.js';
import type { TaintEvictions } from '../core/disruption/taint-eviction.js';
import type { TimedPause } from '../core/message/pause-message.js';
import type { OperatorPauses } from '../core/pause/operator-pause.js';
import type { KubernetesStatus } from '../core/kubernetes/kubernetes-status.js';
import type { EvictionSignal } from '../core/message/eviction-signal.js';
import type { Candidate } from '../core/rank/first-candidates.js';
import type { Observations } from '../core/signal/observation.js';
import type { Stall } from '../core/signal/pressure-share.js';
import type { ConditionType, Resource } from '../core/signal/signal.js';
import type { Threshold } from '../core/threshold/threshold.js';
import type { NotifierState, SourceProblem } from '../monitor/ports/ports.js';
import type { EvictionOf, Metrics } from '../monitor/ports/metrics.js';
import type { EventCounter, Latest, Metric, OnEvent, TimedTaintEviction } from './metric-types.js';
import { METRICS } from './definitions/all-metrics.js';
import { WorkloadSeries } from './workload-series.js';

/** Joins label values: none contains it. */
const SEPARATOR = '\0';

/** The latest values and counts of the monitor, for scrapes and probes. */
export class Status implements Metrics, Latest {
  observations: Observations = { observed: new Map(), missing: new Map() };
  thresholds: readonly Threshold[] = [];
  stalls: readonly Stall[] = [];
  notifierStates: readonly NotifierState[] = [];
  sourceProblems: readonly SourceProblem[] = [];
  reclaimSteps: readonly string[] = [];
  hooks: readonly string[] = [];
  notifications: readonly string[] = [];
  disruptionBudgets: readonly string[] = [];
  budgetStatuses: () => readonly NamedBudgetStatus[] = () => [];
  heldUnits = 0;
  pauses: readonly TimedPause[] = [];
  taints: readonly Taint[] = [];
  #tolerating: readonly { readonly eviction: TimedTaintEviction; readonly untilMs: number }[] = [];
  /** Why evictd evicts nothing; undefined: it evicts. */
  safeMode: string | undefined;
  shutdown = { lasts: false, startSeconds: 0, endSeconds: 0 };
  /** Why a shutdown would not wait for evictd; undefined: it would, or need not. */
  shutdownDelayProblem: string | undefined;
  /** Monotonic clock; undefined before the first sample. */
  sampledAtNs: bigint | undefined;
  monitoringIntervalNs = 10_000_000_000n;
  config: { readonly taken: boolean; readonly sinceSeconds: number };
  readonly conditions = new Set<ConditionType>();
  kubernetes: () => KubernetesStatus | undefined = () => undefined;
  /** Called before values are read for a client: the last pass may be a minute old. */
  renew: () => void = () => undefined;
  readonly #nowNs: () => bigint;
  #budget: EvictionBudget | undefined;
  #evictionTimes: EvictionTimes = new Map();
  #paused: OperatorPauses | undefined;
  #tainted: TaintEvictions | undefined;
  /** The values of each counter, by counter and label values. */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #workloads = new WorkloadSeries();
  readonly #listeners = new Map<string, ((...args: unknown[]) => void)[]>();

  constructor(nowNs = (): bigint => process.hrtime.bigint(), metrics: readonly Metric[] = METRICS) {
    this.#nowNs = nowNs;
    this.config = { taken: true, sinceSeconds: Date.now() / 1_000 };
    for (const metric of metrics) if (metric.type === 'counter' && 'on' in metric) this.#count(metric);
  }

  /**
   * Calls `use` with the value of each event that has one.
   *
   * @param decision  the number of the decision that the event belongs to
   */
  listen<T>(on: OnEvent<T>, decision: OnEvent<number> | undefined, use: (value: T, decision: number | undefined) => void): void {
    const decisions = decision as Readonly<Record<string, (...args: unknown[]) => number | undefined>> | undefined;
    for (const [event, valueOf] of Object.entries(on) as [string, (...args: unknown[]) => T | undefined][]) {
      const listeners = this.#listeners.get(event) ?? [];
      listeners.push((...args) => {
        const value = valueOf(...args);
        if (value !== undefined) use(value, decisions?.[event]?.(...args));
      });
      this.#listeners.set(event, listeners);
    }
  }

  /** The value of a counter; 0 if no event raised it. */
  count(name: string, ...labels: readonly string[]): number {
    return this.#counts.get(name)?.get(labels.join(SEPARATOR)) ?? 0;
  }

  get candidates(): ReturnType<WorkloadSeries['candidates']> {
    return this.#workloads.candidates(this.#nowNs());
  }

  get workloadEvictions(): ReturnType<WorkloadSeries['evictions']> {
    return this.#workloads.evictions();
  }

  sampleAgeNs = (): bigint | undefined => (this.sampledAtNs === undefined ? undefined : this.#nowNs() - this.sampledAtNs);

  remainingBudget = (resource: Resource): number | undefined =>
    this.#budget && remainingBudget(this.#budget, this.#evictionTimes, resource, this.#nowNs());

  /** A configuration was read again. @param taken  whether it is in force now */
  configured(taken: boolean): void {
    this.config = { taken, sinceSeconds: taken ? Date.now() / 1_000 : this.config.sinceSeconds };
  }
  observe(observations: Observations, thresholds: readonly Threshold[]): void {
    this.observations = observations;
    this.thresholds = thresholds;
    this.sampledAtNs = this.#nowNs();
    this.#emit('observe', observations, thresholds);
  }
  skipped(): void {
    this.sampledAtNs = this.#nowNs();
  }
  renewed(stalls: readonly Stall[], observations?: Observations): void {
    this.stalls = stalls;
    this.observations = observations ?? this.observations;
  }
  ranked(signal: EvictionSignal, candidates: readonly Candidate[]): void {
    this.#workloads.ranked(signal, candidates, this.#nowNs());
  }
  condition(type: ConditionType, on: boolean): void {
    if (on) this.conditions.add(type);
    else this.conditions.delete(type);
    this.#emit('condition', type, on);
  }
  thresholdMet = this.#event('thresholdMet');
  evicted(signal: EvictionSignal, eviction: EvictionOf): void {
    this.#workloads.evicted(signal, eviction.workload);
    this.#emit('evicted', signal, eviction);
  }
  budgetViolated = this.#event('budgetViolated');
  podEvictionRefused = this.#event('podEvictionRefused');
  podRestarted = this.#event('podRestarted');
  failed = this.#event('failed');
  ineffective = this.#event('ineffective');
  alerted = this.#event('alerted');
  reclaimed = this.#event('reclaimed');
  policyAction = this.#event('policyAction');
  oomKilled = this.#event('oomKilled');
  standingOrder = this.#event('standingOrder');
  hookRan = this.#event('hookRan');
  notified = this.#event('notified');
  held(units: number): void {
    this.heldUnits = units;
    this.#emit('held', units);
  }
  paused(pauses: OperatorPauses, bootNs = 0n): void {
    if (pauses === this.#paused) return;
    this.#paused = pauses;
    this.pauses = [...pauses.values()].map(({ reason, workload, endsBootNs }) => {
      const endMs = Date.now() + Number(endsBootNs - bootNs) / 1e6;
      return {
        reason,
        ...(workload && { workload }),
        endSeconds: endMs / 1e3,
        endsAt: new Date(endMs).toISOString(),
        endsLocal: localText(endMs),
      };
    });
  }
  /** The evictions that wait for a toleration to end. Those that are due are left out: they are in progress, or not possible. */
  get taintEvictions(): readonly TimedTaintEviction[] {
    const nowMs = performance.now();
    return this.#tolerating.flatMap(({ eviction, untilMs }) => (untilMs > nowMs ? [eviction] : []));
  }
  tainted(taints: readonly Taint[], evictions: TaintEvictions, bootNs = 0n): void {
    this.taints = taints;
    if (evictions === this.#tainted) return;
    this.#tainted = evictions;
    this.#tolerating = [...evictions.values()].map(({ name, path, taint, dueNs }) => {
      const leftMs = Number(dueNs - bootNs) / 1e6;
      return { eviction: { name, path, taint, endsAt: new Date(Date.now() + leftMs).toISOString() }, untilMs: performance.now() + leftMs };
    });
  }
  budget(budget: EvictionBudget | undefined, times: EvictionTimes): void {
    this.#budget = budget;
    this.#evictionTimes = times;
  }
  wakeToSignal = this.#event('wakeToSignal');
  notifiers(states: readonly NotifierState[]): void {
    this.notifierStates = states;
    this.#emit('notifiers', states);
  }
  problems(problems: readonly SourceProblem[]): void {
    this.sourceProblems = problems;
    this.#emit('problems', problems);
  }
  /** The machine shuts down, and evictd begins to end workloads. */
  shutdownBegins(): void {
    this.shutdown = { lasts: true, startSeconds: Date.now() / 1_000, endSeconds: 0 };
  }
  /** evictd has ended the workloads; the machine still shuts down. */
  shutdownIsOver(): void {
    if (this.shutdown.endSeconds === 0) this.shutdown = { ...this.shutdown, endSeconds: Date.now() / 1_000 };
  }
  shutdownCalledOff(): void {
    this.shutdown = { ...this.shutdown, lasts: false };
  }
  shutdownDelayed(problem: string | undefined): void {
    this.shutdownDelayProblem = problem;
  }
  /** The names of the configured steps of node-level reclaim. */
  reclaiming(steps: readonly string[]): void {
    this.reclaimSteps = steps;
  }
  /** The names of the configured hooks, and the kinds of notifications. */
  hooking(hooks: readonly string[], notifications: readonly string[]): void {
    this.hooks = hooks;
    this.notifications = notifications;
  }
  /** The names of the configured disruption budgets. */
  disruptable(budgets: readonly string[]): void {
    this.disruptionBudgets = budgets;
  }
  /** Time between two samples, from which /healthz derives its limit. */
  monitoringInterval(intervalNs: bigint): void {
    this.monitoringIntervalNs = intervalNs;
  }

  #count({ name, on }: EventCounter): void {
    const counts = new Map<string, number>();
    this.#counts.set(name, counts);
    this.listen(on, undefined, ([count, ...labels]) => {
      const key = labels.join(SEPARATOR);
      counts.set(key, (counts.get(key) ?? 0) + count);
    });
  }

  /** A method that only passes its values to the metrics. */
  #event<Event extends keyof Metrics>(event: Event): (...args: Parameters<Metrics[Event]>) => void {
    return (...args) => this.#emit(event, ...args);
  }

  #emit<Event extends keyof Metrics>(event: Event, ...args: Parameters<Metrics[Event]>): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...args);
  }
}

/** '2026-11-26 03:00:00+01:00' */
function localText(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset();
  return new Date(ms + offset * 60e3).toISOString().slice(0, 19).replace('T', ' ') + zoneText(offset);
}
