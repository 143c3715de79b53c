import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ALERT_KINDS } from '../core/effect.js';
import { STORAGE_LIMIT_SIGNALS, type EvictionSignal } from '../core/eviction-signal.js';
import { OOM_LIMITS } from '../core/kernel-kill.js';
import type { Observation, Observations } from '../core/observation.js';
import { CONDITION_TYPES, isPressure, isResourceSignal, SIGNALS, SIGNAL_FACTS, type ConditionType, type Signal } from '../core/signal.js';
import { allMet, isListed, isResourceThreshold, resolve, thresholdKind, whenText } from '../core/threshold.js';
import * as definitions from './definition.js';
import type { Definition } from './definition.js';
import { ratioOf, stalledSeconds } from '../core/stalled.js';
import { PROCESS_START_SECONDS, processCpuSeconds, processOpenFds, processResidentBytes } from './process.js';
import type { Status } from './status.js';

/** Around the aim of 10 ms, where the difference matters, closely. */
const WAKE_BUCKETS = [0.000_25, 0.000_5, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface RegistryOptions {
  readonly version: string;
  readonly dryRun: boolean;
  /** Counters that others keep, asked at every scrape. */
  readonly journalErrors: () => number;
  readonly journalLostRecords: () => number;
  readonly logLinesDropped: () => number;
}

/** A value with its labels, in the order of the definition. */
type Sample = readonly [value: number | undefined, ...labels: string[]];

/**
 * Every metric of evictd. Nothing is done between scrapes except for the histogram: a scrape reads the status and fills prom-client from it.
 * No default metrics: their collectors cost more than all of evictd while it is idle.
 */
export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor(status: Status, options: RegistryOptions) {
    this.#signals(status);
    this.#evictions(status);
    this.#fill(definitions.JOURNAL_ERRORS, () => [[options.journalErrors()]]);
    this.#fill(definitions.JOURNAL_LOST, () => [[options.journalLostRecords()]]);
    this.#fill(definitions.LOG_DROPPED, () => [[options.logLinesDropped()]]);
    this.#fill(definitions.BUILD_INFO, () => [[1, options.version]]);
    this.#fill(definitions.CONFIG_TAKEN, () => [[status.config.taken ? 1 : 0]]);
    this.#fill(definitions.CONFIG_SINCE, () => [[status.config.sinceSeconds]]);
    this.#fill(definitions.DRY_RUN, () => [[options.dryRun ? 1 : 0]]);
    this.#fill(definitions.PROCESS_CPU, () => [[processCpuSeconds()]]);
    this.#fill(definitions.PROCESS_RESIDENT, () => [[processResidentBytes()]]);
    this.#fill(definitions.PROCESS_OPEN_FDS, () => [[processOpenFds()]]);
    this.#fill(definitions.PROCESS_START, () => [[PROCESS_START_SECONDS]]);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The text exposition of now. */
  metrics(): Promise<string> {
    return this.#registry.metrics();
  }

  #signals(status: Status): void {
    this.#fill(definitions.SIGNAL_AVAILABLE, () =>
      amounts(status.observations).map(([signal, { available }]) => [Number(available), signal]),
    );
    this.#fill(definitions.SIGNAL_CAPACITY, () => amounts(status.observations).map(([signal, { capacity }]) => [Number(capacity), signal]));
    this.#fill(definitions.SIGNAL_THRESHOLD, () =>
      status.thresholds
        .filter((threshold) => !isListed(threshold))
        .map((threshold) => {
          const observed = status.observations.observed.get(threshold.signal);
          const absolute = threshold.value.kind === 'quantity';
          const limit = observed ?? (absolute ? { capacity: 0n } : undefined);
          return [limit && Number(resolve(threshold.value, limit.capacity)), threshold.signal, thresholdKind(threshold)];
        }),
    );
    this.#fill(definitions.SIGNAL_PRESSURE, () =>
      [...status.observations.observed]
        .filter(([signal]) => isPressure(signal))
        .map(([signal, observation]) => [ratioOf(observation), signal]),
    );
    this.#fill(definitions.THRESHOLD_MET, () =>
      status.thresholds.filter(isListed).map((threshold) => {
        const met = allMet(threshold, status.observations, false);
        return [met === undefined ? undefined : met ? 1 : 0, whenText(threshold), thresholdKind(threshold)];
      }),
    );
    for (const { definition, resource, kind } of definitions.PRESSURE_TOTALS) {
      this.#fill(definition, () => stalledSeconds(resource, kind, status.observations.observed));
    }
    this.#fill(definitions.NODE_CONDITION, () => {
      const watched = new Set<ConditionType | undefined>(status.thresholds.map(({ signal }) => SIGNAL_FACTS[signal].condition));
      return CONDITION_TYPES.filter((type) => watched.has(type)).map((type) => [status.conditions.has(type) ? 1 : 0, type]);
    });
    this.#fill(definitions.NOTIFIER_LIVE, () =>
      [...new Set(status.notifierStates.map(({ mechanism }) => mechanism))].map((mechanism) => [
        status.notifierStates.every((state) => state.live || state.mechanism !== mechanism) ? 1 : 0,
        mechanism,
      ]),
    );
    this.#fill(definitions.SIGNAL_POLLED, () =>
      [...new Set(status.notifierStates.map(({ signal }) => signal))].map((signal) => [
        status.notifierStates.some((state) => state.signal === signal && state.essential && !state.live) ? 1 : 0,
        signal,
      ]),
    );
    this.#fill(definitions.SAMPLER_PERIOD, () => {
      const periods = new Map<string, number>(); // of several levels the one that is nearest to its limit
      for (const { signal, periodMs } of status.notifierStates) {
        if (periodMs) periods.set(signal, Math.min(periodMs / 1e3, periods.get(signal) ?? Infinity));
      }
      return [...periods].map(([signal, seconds]) => [seconds, signal]);
    });
    this.#fill(definitions.SAMPLE_AGE, () => {
      const ageNs = status.sampleAgeNs();
      return [[ageNs === undefined ? undefined : Number(ageNs) / 1e9]];
    });
  }

  /** Every configured signal has its counters from the start, at 0: the first event is an increase that rate() sees. */
  #evictions(status: Status): void {
    const counted = (counts: Status['evictions']): Sample[] => {
      const evicting = status.thresholds.filter(isResourceThreshold).map(({ signal }) => signal);
      const signals = new Set<EvictionSignal>([...evicting, ...counts.keys()]);
      return [...SIGNALS, ...STORAGE_LIMIT_SIGNALS].filter((signal) => signals.has(signal)).map((signal) => [counts.get(signal), signal]);
    };
    this.#fill(definitions.EVICTIONS, () => counted(status.evictions));
    this.#fill(definitions.EVICTIONS_FAILED, () => counted(status.failedEvictions));
    this.#fill(definitions.EVICTIONS_INEFFECTIVE, () => counted(status.ineffectiveEvictions));
    this.#fill(definitions.ALERTS, () => {
      const signals = [...new Set(status.thresholds.map(({ signal }) => signal))];
      const possible = ALERT_KINDS.flatMap((kind) =>
        signals.filter((signal) => isResourceSignal(signal) === (kind !== 'alert-only')).map((signal) => `${kind} ${signal}` as const),
      );
      return [...new Set([...possible, ...status.alerts.keys()])].map((key) => [status.alerts.get(key), ...key.split(' ')]);
    });
    const bySteps = (counts: Status['reclaims']): Sample[] =>
      [...new Set([...status.reclaimSteps, ...counts.keys()])].map((step) => [counts.get(step), step]);
    this.#fill(definitions.RECLAIMS, () => bySteps(status.reclaims));
    this.#fill(definitions.RECLAIMS_FAILED, () => bySteps(status.failedReclaims));
    this.#fill(definitions.RECLAIMED_BYTES, () => bySteps(status.reclaimedBytes));
    this.#fill(definitions.RECLAIMED_INODES, () => bySteps(status.reclaimedInodes));
    this.#fill(definitions.OOM_KILLS, () => OOM_LIMITS.map((limit) => [status.oomKills.get(limit), limit]));
    this.#fill(definitions.UNITS_HELD, () => [[status.heldUnits]]);
    this.#fill(definitions.SHUTDOWN_START, () => [[status.shutdown.startSeconds]]);
    this.#fill(definitions.SHUTDOWN_END, () => [[status.shutdown.endSeconds]]);
    this.#fill(definitions.THRESHOLDS_MET, () => {
      const configured = status.thresholds.map((threshold) => `${threshold.signal} ${thresholdKind(threshold)}` as const);
      return [...new Set([...configured, ...status.episodes.keys()])].map((key) => [status.episodes.get(key), ...key.split(' ')]);
    });
    const { name, help } = definitions.WAKE_TO_SIGNAL;
    const histogram = new Histogram({ name, help, buckets: WAKE_BUCKETS, registers: [this.#registry] });
    status.onWakeToSignal = (seconds) => {
      histogram.observe(seconds);
    };
  }

  /** Registers a metric that is emptied and filled at every scrape; a sample without a value is left out. */
  #fill({ type, name, help, labels }: Definition, samples: () => readonly Sample[]): void {
    const fill = (metric: Counter | Gauge): void => {
      metric.reset();
      if (labels.length === 0) metric.remove(); // reset() leaves a 0 that nobody said
      for (const [value, ...texts] of samples()) {
        if (value === undefined) continue;
        const named = Object.fromEntries(labels.map((label, index) => [label, texts[index] ?? '']));
        if (metric instanceof Gauge) metric.set(named, value);
        else metric.inc(named, value);
      }
    };
    const options = {
      name,
      help,
      labelNames: labels,
      registers: [this.#registry],
      collect(this: Counter | Gauge): void {
        fill(this);
      },
    };
    if (type === 'counter') new Counter(options);
    else new Gauge(options);
  }
}

function amounts({ observed }: Observations): [Signal, Observation][] {
  return [...observed].filter(([signal]) => !isPressure(signal));
}
