import type { Condition, MetricReference } from './condition.js';
import { testsOf, wholeOf, type Test } from './condition-needs.js';
import { changeBetween, levelOf } from './evaluate-condition.js';
import { METRICS, type MetricName } from './metric.js';
import { PRESSURE_AVERAGES } from './raw-value.js';
import { greatestChange, greatestOf } from './scope-extremes.js';
import { latest, readingBefore, type ScopeHistory, type ScopePasses } from './scope-history.js';
import type { ScopeReading } from './scope-reading.js';

type ComparisonTest = Extract<Test, { readonly kind: 'comparison' }>;

/** What was read just now, and before. */
export interface LeadReadings {
  /** undefined: not known. */
  readonly node: ScopeHistory | undefined;
  /** The cgroups of the scope that are there. undefined: not known, or the policy has none. */
  readonly scope: readonly ScopeReading[] | undefined;
  /** What windows about them need. */
  readonly passes: ScopePasses;
  /** A notifier wakes evictd when memory.available falls below it, in bytes. Left out: none does. */
  readonly watched?: number | undefined;
  /** Pressure of the node ('memory.pressure.full') that wakes evictd at WATCHED_PART of a limit. Left out: none does. */
  readonly watchedPressure?: ReadonlySet<string> | undefined;
}

/**
 * A trigger fires at this part of a pressure's limit, in the kernel's period or less. While it does not fire, and up to
 * twice as much was read, the limit is not reached: the kernel's windows may be off by their length.
 */
export const WATCHED_PART = 0.25;

/** Metrics of a cgroup that rise no faster than memory is filled. A new cgroup begins at 0. */
const FILLED: ReadonlySet<MetricName> = new Set(['memory.current', 'memory.anon', 'memory.file', 'memory.shmem', 'memory.swap']);

/** The kernel updates the averages of pressure so often (kernel/sched/psi.c, PSI_FREQ): the last value may be so old. */
const PRESSURE_UPDATE_S = 2;

/**
 * The seconds in which the condition cannot become true, whatever happens to the values that it compares: 0 if that is
 * not known, Infinity where it never becomes true.
 *
 * @param bytesPerSecond  how fast memory may be filled
 */
export function conditionLeadS(condition: Condition, readings: LeadReadings, bytesPerSecond: number): number {
  switch (condition.kind) {
    case 'comparison':
      return Math.max(0, comparisonLeadS(condition, readings, bytesPerSecond));
    case 'and':
      return Math.max(...condition.conditions.map((one) => leadAmongS(one, condition.conditions, readings, bytesPerSecond)));
    case 'or':
      return Math.min(...condition.conditions.map((one) => conditionLeadS(one, readings, bytesPerSecond)));
    case 'not':
    case 'trend':
    case 'exists':
      return 0;
  }
}

/** The windows of the other conditions must have been read when this one may become true. */
function leadAmongS(one: Condition, all: readonly Condition[], readings: LeadReadings, bytesPerSecond: number): number {
  return Math.max(0, conditionLeadS(one, readings, bytesPerSecond) - longestWindowS(all.filter((other) => other !== one)));
}

/** The time that these conditions look back. */
export function longestWindowS(conditions: readonly Condition[]): number {
  const windows = conditions.flatMap(testsOf).map((test) => (test.kind === 'exists' ? 0n : (test.windowNs ?? 0n)));
  return Math.max(0, ...windows.map((ns) => Number(ns) / 1e9));
}

function comparisonLeadS(test: ComparisonTest, readings: LeadReadings, bytesPerSecond: number): number {
  const { metric, comparison, amount } = test;
  const { scope, watched = 0 } = readings;
  const node = readings.node && latest(readings.node);
  const isUpwards = comparison.startsWith('>');
  if (metric.path !== undefined) return 0;
  if (METRICS[metric.name].kind === 'stall') return isUpwards ? stallLeadS(test, readings) : 0;
  if (METRICS[metric.name].kind !== 'level') return 0;
  if (metric.name === 'memory.available') {
    const [available, limit] = [node && levelOf(metric, node), availableLimit(test, node)];
    if (isUpwards || available === undefined || limit === undefined) return 0;
    return available >= watched && watched > limit ? Infinity : (available - limit) / bytesPerSecond;
  }
  const value = metric.of === 'node' ? node && levelOf(metric, node) : scope && greatestOf(metric, scope);
  if (value === undefined || !isUpwards) return 0;
  const average = PRESSURE_AVERAGES.find((one) => metric.name.endsWith(`.${one}`));
  if (average !== undefined && amount.kind === 'share' && amount.of === undefined) {
    if (isWatched(test, readings) && value < 2 * WATCHED_PART * amount.ratio) return Infinity;
    return averageLeadS(Number(average.slice('avg'.length)), value, amount.ratio);
  }
  if (metric.of !== 'cgroup' || !FILLED.has(metric.name) || amount.kind !== 'quantity') return 0;
  return (amount.value - value) / bytesPerSecond;
}

function isWatched({ metric }: ComparisonTest, { watchedPressure }: LeadReadings): boolean {
  return metric.of === 'node' && watchedPressure?.has(metric.name.split('.', 3).join('.')) === true;
}

/** A window has its share at the earliest when all tasks have stalled for what is missing. */
function stallLeadS(test: ComparisonTest, readings: LeadReadings): number {
  const { metric, amount, windowNs = 0n } = test;
  if (amount.kind !== 'share') return 0;
  const limitS = (amount.ratio * Number(windowNs)) / 1e9;
  const stalledS = metric.of === 'node' ? stalledSince(windowNs, metric, readings.node) : stalledInScope(windowNs, metric, readings);
  if (isWatched(test, readings) && stalledS < 2 * WATCHED_PART * limitS) return Infinity;
  return limitS - stalledS;
}

/** Seconds since a reading that is at least so old. Infinity: there is none, so that the share is not known yet. */
function stalledSince(windowNs: bigint, metric: MetricReference, history: ScopeHistory | undefined): number {
  const [before, last] = history === undefined ? [] : [readingBefore(history, windowNs), latest(history)];
  const stalledUs = before && last && changeBetween(metric, before, last);
  return stalledUs === undefined ? Infinity : stalledUs / 1e6;
}

/** The longest of the scope's cgroups, as in {@link stalledSince}; 0: there is no cgroup. */
function stalledInScope(windowNs: bigint, metric: MetricReference, { scope, passes }: LeadReadings): number {
  if (scope === undefined) return Infinity;
  const { greatest, isComplete } = greatestChange(metric, windowNs, scope, passes);
  return isComplete ? Math.max(0, greatest / 1e6) : Infinity;
}

function availableLimit(test: ComparisonTest, node: ScopeReading | undefined): number | undefined {
  if (test.amount.kind === 'quantity') return test.amount.value;
  const capacity = node && wholeOf(test)?.read(node.values);
  return capacity === undefined || test.amount.kind !== 'share' ? undefined : capacity * test.amount.ratio;
}

/** An average over so many seconds while all tasks stall: 1 − value shrinks to e⁻¹ of it in that time. */
function averageLeadS(seconds: number, value: number, limit: number): number {
  return value >= limit ? 0 : seconds * Math.log((1 - value) / Math.max(0, 1 - limit)) - PRESSURE_UPDATE_S;
}
