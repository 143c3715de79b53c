import type { DiskAmount } from '../core/disk-holding.js';
import type { AlertKind } from '../core/effect.js';
import type { EvictionSignal } from '../core/eviction-signal.js';
import type { OomLimit } from '../core/kernel-kill.js';
import type { Observations } from '../core/observation.js';
import type { ConditionType, Signal } from '../core/signal.js';
import type { Threshold, ThresholdKind } from '../core/threshold.js';
import type { NotifierState, SourceProblem } from '../monitor/ports.js';
import type { Metrics } from '../monitor/publisher.js';

/** Counts by label values; a label value that was never counted is 0. */
class Counts<Key extends string> {
  readonly #counts = new Map<Key, number>();
  add(key: Key, count = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }
  get(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }
  keys(): Iterable<Key> {
    return this.#counts.keys();
  }
}

/** Of what others have taken meanwhile nothing was given back: a counter does not fall. */
function atLeastNone(amount: bigint): number {
  return amount > 0n ? Number(amount) : 0;
}

/** The latest of everything that the loop has published, as plain values: scrapes and probes read it, nothing is computed before. */
export class Status implements Metrics {
  observations: Observations = { observed: new Map(), missing: new Map() };
  thresholds: readonly Threshold[] = [];
  notifierStates: readonly NotifierState[] = [];
  sourceProblems: readonly SourceProblem[] = [];
  reclaimSteps: readonly string[] = [];
  heldUnits = 0;
  /** Of the last shutdown of the machine, in seconds since 1970; 0: there was none, or it is not over. */
  shutdown = { lasts: false, startSeconds: 0, endSeconds: 0 };
  /** Why a shutdown would not wait for evictd; undefined: it would, or is not to. */
  shutdownDelayProblem: string | undefined;
  /** Monotonic clock; undefined before the first pass. */
  sampledAtNs: bigint | undefined;
  monitoringIntervalNs = 10_000_000_000n;
  readonly conditions = new Set<ConditionType>();
  readonly evictions = new Counts<EvictionSignal>();
  readonly failedEvictions = new Counts<EvictionSignal>();
  readonly ineffectiveEvictions = new Counts<EvictionSignal>();
  readonly alerts = new Counts<`${AlertKind} ${Signal}`>();
  readonly reclaims = new Counts<string>();
  readonly failedReclaims = new Counts<string>();
  readonly reclaimedBytes = new Counts<string>();
  readonly reclaimedInodes = new Counts<string>();
  readonly oomKills = new Counts<OomLimit>();
  readonly episodes = new Counts<`${Signal} ${ThresholdKind}`>();
  readonly #nowNs: () => bigint;
  /** Whether the configuration that was read last is in force, and since when the one that is, in seconds since 1970. */
  config: { readonly taken: boolean; readonly sinceSeconds: number };
  /** Set by the registry, which has the histogram. */
  onWakeToSignal: (seconds: number) => void = () => undefined;

  constructor(nowNs = (): bigint => process.hrtime.bigint()) {
    this.#nowNs = nowNs;
    this.config = { taken: true, sinceSeconds: Date.now() / 1_000 };
  }

  /** A configuration was read again. */
  configured(taken: boolean): void {
    this.config = { taken, sinceSeconds: taken ? Date.now() / 1_000 : this.config.sinceSeconds };
  }

  /** How long ago the node was read; undefined: never. */
  sampleAgeNs(): bigint | undefined {
    return this.sampledAtNs === undefined ? undefined : this.#nowNs() - this.sampledAtNs;
  }

  observe(observations: Observations, thresholds: readonly Threshold[]): void {
    this.observations = observations;
    this.thresholds = thresholds;
    this.sampledAtNs = this.#nowNs();
  }
  condition(type: ConditionType, on: boolean): void {
    if (on) this.conditions.add(type);
    else this.conditions.delete(type);
  }
  thresholdMet(signal: Signal, kind: ThresholdKind): void {
    this.episodes.add(`${signal} ${kind}`);
  }
  evicted(signal: EvictionSignal): void {
    this.evictions.add(signal);
  }
  failed(signal: EvictionSignal): void {
    this.failedEvictions.add(signal);
  }
  ineffective(signal: EvictionSignal): void {
    this.ineffectiveEvictions.add(signal);
  }
  alerted(kind: AlertKind, signal: Signal): void {
    this.alerts.add(`${kind} ${signal}`);
  }
  reclaimed(step: string, { bytes, inodes }: DiskAmount, failed: boolean): void {
    this.reclaims.add(step);
    if (failed) this.failedReclaims.add(step);
    this.reclaimedBytes.add(step, atLeastNone(bytes));
    this.reclaimedInodes.add(step, atLeastNone(inodes));
  }
  oomKilled(limit: OomLimit, processes: number): void {
    this.oomKills.add(limit, processes);
  }
  held(units: number): void {
    this.heldUnits = units;
  }
  /** The machine goes down, and workloads begin to end. */
  shutdownBegins(): void {
    this.shutdown = { lasts: true, startSeconds: Date.now() / 1_000, endSeconds: 0 };
  }
  /** Nobody is waited for any more; the machine goes down still. */
  shutdownIsOver(): void {
    if (this.shutdown.endSeconds === 0) this.shutdown = { ...this.shutdown, endSeconds: Date.now() / 1_000 };
  }
  shutdownCalledOff(): void {
    this.shutdown = { ...this.shutdown, lasts: false };
  }
  shutdownDelayed(problem: string | undefined): void {
    this.shutdownDelayProblem = problem;
  }
  wakeToSignal(seconds: number): void {
    this.onWakeToSignal(seconds);
  }
  notifiers(states: readonly NotifierState[]): void {
    this.notifierStates = states;
  }
  problems(problems: readonly SourceProblem[]): void {
    this.sourceProblems = problems;
  }
  /** What node-level reclaim may do, by name. */
  reclaiming(steps: readonly string[]): void {
    this.reclaimSteps = steps;
  }
  /** The interval at which the loop ticks: what /healthz expects. */
  monitoringInterval(intervalNs: bigint): void {
    this.monitoringIntervalNs = intervalNs;
  }
}
