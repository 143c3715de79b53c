import type { Comparison, Condition, MetricReference, Truth } from './condition.js';
import { gaugeOf, testsOf, wholeOf, type Test } from './condition-needs.js';
import { METRICS, type MetricKind } from './metric.js';
import { latest, readingBefore, type ScopeHistory } from './scope-history.js';
import type { ScopeReading } from './scope-reading.js';

/** What a condition is judged by. Left out: it could not be read. */
export interface ConditionReadings {
  readonly node?: ScopeHistory;
  readonly cgroup?: ScopeHistory;
  /** Readings of cgroups that conditions name, by path. A cgroup that is missing here does not exist. */
  readonly named?: ReadonlyMap<string, ScopeHistory>;
}

type ComparisonTest = Extract<Test, { readonly kind: 'comparison' }>;
type TrendTest = Extract<Test, { readonly kind: 'trend' }>;

/**
 * Kleene's three-valued logic: what is not known stays not known, unless the other operands decide. A pure function of
 * the readings; the newest is now.
 */
export function evaluateCondition(condition: Condition, readings: ConditionReadings): Truth {
  switch (condition.kind) {
    case 'comparison': {
      const value = measured(condition, readings);
      const limit = value === undefined ? undefined : limitOf(condition, readings);
      return value === undefined || limit === undefined ? 'unknown' : compares(condition.comparison, value, limit);
    }
    case 'trend':
      return evaluateTrend(condition, readings);
    case 'exists': {
      const reading = now(condition.metric, readings);
      if (reading === undefined) return condition.metric.path !== undefined && readings.named !== undefined ? false : 'unknown';
      // Every cgroup has an age, also while systemd has not said yet when its unit was started.
      return condition.metric.name === 'age' || gaugeOf(condition.metric).read(reading.values) !== undefined;
    }
    case 'not': {
      const truth = evaluateCondition(condition.condition, readings);
      return truth === 'unknown' ? truth : !truth;
    }
    case 'and':
      return decided(condition.conditions, readings, false);
    case 'or':
      return decided(condition.conditions, readings, true);
  }
}

/** One operand of this truth decides; else one that is not known leaves the result open. */
function decided(conditions: readonly Condition[], readings: ConditionReadings, deciding: boolean): Truth {
  let result: Truth = !deciding;
  for (const condition of conditions) {
    const truth = evaluateCondition(condition, readings);
    if (truth === deciding) return truth;
    if (truth === 'unknown') result = truth;
  }
  return result;
}

/** What was measured for one comparison, for messages and the journal: in bytes, counts, seconds, or 0 to 1, or per second. */
export interface MeasuredValue {
  readonly test: ComparisonTest;
  /** undefined: not known. */
  readonly value: number | undefined;
}

/** The measured values of every comparison, in the order of the text. */
export function measuredValues(condition: Condition, readings: ConditionReadings): readonly MeasuredValue[] {
  return testsOf(condition).flatMap((test) => (test.kind === 'comparison' ? [{ test, value: measured(test, readings) }] : []));
}

function historyOf({ of, path }: MetricReference, readings: ConditionReadings): ScopeHistory | undefined {
  return path === undefined ? readings[of] : readings.named?.get(path);
}

function now(metric: MetricReference, readings: ConditionReadings): ScopeReading | undefined {
  const history = historyOf(metric, readings);
  return history && latest(history);
}

export function compares(comparison: Comparison, value: number, limit: number): boolean {
  switch (comparison) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
  }
}

/** The measured value in the unit of the amount. */
function measured({ metric, amount, windowNs = 0n }: ComparisonTest, readings: ConditionReadings): number | undefined {
  const { kind } = METRICS[metric.name];
  const history = historyOf(metric, readings);
  const reading = now(metric, readings);
  if (history === undefined || reading === undefined) return undefined;
  if (kind === 'level') return levelOf(metric, reading);
  const before = readingBefore(history, windowNs);
  const whole = before && changeBetween(metric, before, reading);
  if (before === undefined || whole === undefined || windowNs === 0n) return undefined;
  const earlier = changeUntil(reading.timeNs - windowNs, metric, before, history);
  const change = whole - earlier;
  if (kind === 'stall') return (change * 1_000) / Number(windowNs);
  if (amount.kind === 'rate') return (change * 1e9) / Number(windowNs);
  if (amount.kind === 'quantity') return change;
  const start = (levelOf(metric, before) ?? 0) + earlier;
  return start <= 0 ? undefined : change / start;
}

/** What changed from `before` to the start of the window, by interpolation: after a rest `before` may be seconds older. */
function changeUntil(startNs: bigint, metric: MetricReference, before: ScopeReading, { readings }: ScopeHistory): number {
  for (const after of readings) {
    const change = after.timeNs > startNs ? changeBetween(metric, before, after) : undefined;
    if (change !== undefined) return change * (Number(startNs - before.timeNs) / Number(after.timeNs - before.timeNs));
  }
  return 0;
}

/** The level in the unit of the metric; an average of pressure is 0 to 1. */
export function levelOf(metric: MetricReference, { values }: ScopeReading): number | undefined {
  const value = gaugeOf(metric).read(values);
  return METRICS[metric.name].unit === 'share' && value !== undefined ? value / 100 : value;
}

export function changeBetween(metric: MetricReference, before: ScopeReading, after: ScopeReading): number | undefined {
  const gauge = gaugeOf(metric);
  const [start, end] = [gauge.read(before.values), gauge.read(after.values)];
  if (start === undefined || end === undefined) return undefined;
  // A counter that has fallen has started anew.
  return end < start && METRICS[metric.name].kind !== 'growth' ? undefined : end - start;
}

/** Per second; of a stall the share of the time. */
function rateBetween(metric: MetricReference, before: ScopeReading, after: ScopeReading): number | undefined {
  const change = changeBetween(metric, before, after);
  const elapsedNs = Number(after.timeNs - before.timeNs);
  if (change === undefined || elapsedNs <= 0) return undefined;
  return METRICS[metric.name].kind === 'stall' ? (change * 1_000) / elapsedNs : (change * 1e9) / elapsedNs;
}

function limitOf(test: ComparisonTest, readings: ConditionReadings): number | undefined {
  const { metric, amount } = test;
  if (amount.kind === 'quantity') return amount.value;
  if (amount.kind === 'rate') return amount.perSecond;
  const whole = wholeOf(test);
  if (amount.of === undefined && whole === undefined) return amount.ratio;
  const base = amount.of ?? metric;
  const reading = now(base, readings);
  const total = reading && (whole ?? gaugeOf(base)).read(reading.values);
  return total === undefined ? undefined : total * amount.ratio;
}

/**
 * Pressure and rates vary from one moment to the next also where nothing changes. Only a change by more than this part of
 * the older mean is one, as for facebookincubator/oomd (PressureRisingBeyond.cpp, fast_fall_ratio 0.85).
 */
const NOISE = 0.15;

/** The mean of the newer half of the window against that of the older half. Equal is neither rising nor falling. */
function evaluateTrend({ metric, direction, windowNs }: TrendTest, readings: ConditionReadings): Truth {
  const history = historyOf(metric, readings);
  if (history === undefined) return 'unknown';
  const [last, middle, start] = [latest(history), readingBefore(history, windowNs / 2n), readingBefore(history, windowNs)];
  if (last === undefined || start === undefined || middle === undefined || start === middle) return 'unknown';
  const mean = TREND_MEANS[METRICS[metric.name].kind];
  const [older, newer] = [mean(metric, history.readings, start, middle), mean(metric, history.readings, middle, last)];
  if (older === undefined || newer === undefined) return 'unknown';
  const { kind, unit } = METRICS[metric.name];
  const noise = kind === 'level' && unit !== 'share' ? 0 : NOISE * Math.abs(older);
  return direction === 'rising' ? newer > older + noise : newer < older - noise;
}

type Mean = (metric: MetricReference, readings: readonly ScopeReading[], from: ScopeReading, to: ScopeReading) => number | undefined;

const rateMean: Mean = (metric, _readings, from, to) => rateBetween(metric, from, to);

/** The mean of the readings after `from` up to `to`. */
const levelMean: Mean = (metric, readings, from, to) => {
  const values = readings.filter(({ timeNs }) => timeNs > from.timeNs && timeNs <= to.timeNs).map((reading) => levelOf(metric, reading));
  return values.reduce<number | undefined>(
    (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value / values.length),
    0,
  );
};

const TREND_MEANS: Readonly<Record<MetricKind, Mean>> = { level: levelMean, counter: rateMean, growth: rateMean, stall: rateMean };
