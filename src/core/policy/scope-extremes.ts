import type { Comparison, Condition, MetricReference } from './condition.js';
import { gaugeOf } from './condition-needs.js';
import { compares, levelOf } from './evaluate-condition.js';
import { METRICS } from './metric.js';
import { NO_PASSES, type ScopePass, type ScopePasses } from './scope-history.js';
import type { ScopeReading } from './scope-reading.js';

type ComparisonTest = Extract<Condition, { readonly kind: 'comparison' }>;

/** The extremes of a value in the readings of a scope. */
interface Extremes {
  readonly least: number;
  readonly greatest: number;
  /** Whether the value is known of each. */
  readonly isComplete: boolean;
}

/** Known extremes, by the readings that policies with the same scope share, and then by value. */
const KNOWN = new WeakMap<readonly ScopeReading[], Map<string, Extremes>>();

/** A quotient is rounded otherwise than the product that a condition is judged by. */
const ROUNDING = 1e-9;

/** Upper bounds of what a value may have changed by in a window, in the readings of a scope. */
interface GreatestChange {
  readonly greatest: number;
  /** Of what it was at the start of the window. */
  readonly greatestShare: number;
  /** Whether the change since a reading before the window is known of each. */
  readonly isComplete: boolean;
}

/**
 * Whether the condition may be true for one of these cgroups. False is certain: the largest of all is not large enough.
 * So mostly a hundred policies about hundreds of cgroups cost one comparison each.
 *
 * @param readings  of one pass
 * @param passes  for the windows of the condition; the newest is that of the readings
 */
export function mayHold(condition: Condition, readings: readonly ScopeReading[], passes: ScopePasses = NO_PASSES): boolean {
  return mayBe(condition, true, readings, passes);
}

function mayBe(condition: Condition, truth: boolean, readings: readonly ScopeReading[], passes: ScopePasses): boolean {
  switch (condition.kind) {
    case 'comparison':
      return mayCompare(condition, truth ? condition.comparison : OPPOSITE[condition.comparison], readings, passes);
    case 'and':
    case 'or': {
      const may = (one: Condition): boolean => mayBe(one, truth, readings, passes);
      return (condition.kind === 'and') === truth ? condition.conditions.every(may) : condition.conditions.some(may);
    }
    case 'not':
      return mayBe(condition.condition, !truth, readings, passes);
    case 'trend':
      return !truth || mayMove(condition, readings, passes);
    case 'exists':
      return true;
  }
}

/** What holds of a known value where the comparison does not. */
const OPPOSITE: Readonly<Record<Comparison, Comparison>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

function mayCompare(test: ComparisonTest, comparison: Comparison, readings: readonly ScopeReading[], passes: ScopePasses): boolean {
  const { metric, amount } = test;
  const { kind, unit, whole } = METRICS[metric.name];
  if (!isOfScope(metric)) return true;
  if (kind !== 'level') return mayChange(test, comparison, readings, passes);
  if (amount.kind === 'quantity') return compares(comparison, extremeOf(test, comparison, readings), amount.value);
  if (amount.kind !== 'share' || (amount.of !== undefined && !isOfScope(amount.of))) return true;
  if (amount.of === undefined)
    return unit !== 'share' || whole !== undefined || compares(comparison, extremeOf(test, comparison, readings), amount.ratio);
  const ratio = amount.ratio * (isUpwards(comparison) ? 1 - ROUNDING : 1 + ROUNDING);
  return compares(comparison, extremeOf(test, comparison, readings), ratio);
}

function mayChange(test: ComparisonTest, comparison: Comparison, readings: readonly ScopeReading[], passes: ScopePasses): boolean {
  const { metric, amount, windowNs = 0n } = test;
  if (windowNs === 0n || !isUpwards(comparison)) return true;
  const { greatest, greatestShare } = greatestChange(metric, windowNs, readings, passes);
  if (amount.kind === 'quantity') return compares(comparison, greatest, amount.value);
  if (amount.kind === 'rate') return compares(comparison, (greatest * 1e9) / Number(windowNs), amount.perSecond);
  if (METRICS[metric.name].kind === 'stall') return compares(comparison, (greatest * 1_000) / Number(windowNs), amount.ratio);
  return compares(comparison, greatestShare, amount.ratio * (1 - ROUNDING));
}

/** A counter that has not changed neither rises nor falls. */
function mayMove(
  { metric, windowNs }: Extract<Condition, { readonly kind: 'trend' }>,
  readings: readonly ScopeReading[],
  passes: ScopePasses,
): boolean {
  const { kind } = METRICS[metric.name];
  if (!isOfScope(metric) || kind === 'level' || kind === 'growth') return true;
  return greatestChange(metric, windowNs, readings, passes).greatest !== 0;
}

function isOfScope({ of, path }: MetricReference): boolean {
  return of === 'cgroup' && path === undefined;
}

function isUpwards(comparison: Comparison): boolean {
  return comparison === '>' || comparison === '>=';
}

/** The largest value of these cgroups, at least 0, which a new one begins with; undefined: it is not known of each. */
export function greatestOf(metric: MetricReference, readings: readonly ScopeReading[]): number | undefined {
  const { greatest, isComplete } = extremesOf({ metric }, readings);
  return isComplete ? Math.max(greatest, 0) : undefined;
}

/** Known changes, as KNOWN. */
const CHANGES = new WeakMap<readonly ScopeReading[], Map<string, GreatestChange>>();

/**
 * The largest change of a value of these cgroups in the window, or a little more: the value at its start lies between two
 * readings, and the lesser one counts. Infinity: of one it is not known here, but may be from other readings of it.
 * -Infinity: it is known of none.
 */
export function greatestChange(
  metric: MetricReference,
  windowNs: bigint,
  readings: readonly ScopeReading[],
  passes: ScopePasses,
): GreatestChange {
  const key = `${metric.name} ${String(windowNs)}`;
  const known = CHANGES.get(readings) ?? new Map<string, GreatestChange>();
  CHANGES.set(readings, known);
  const found = known.get(key);
  if (found !== undefined) return found;
  let [greatest, greatestShare, isComplete] = [-Infinity, -Infinity, true];
  const [first] = readings;
  const at = first === undefined ? -1 : passes.findLastIndex(({ timeNs }) => timeNs <= first.timeNs - windowNs);
  const { read } = gaugeOf(metric);
  const isGrowth = METRICS[metric.name].kind === 'growth';
  for (const reading of readings) {
    const [value, before] = [read(reading.values), valueIn(passes[at], metric, reading)];
    // Only what can fall may have been less in the window than before it.
    const start = before === undefined || !isGrowth ? before : Math.min(before, valueIn(passes[at + 1], metric, reading) ?? -Infinity);
    // What has shrunk has changed by a known amount; a counter that has fallen has started anew.
    if (value === undefined || start === undefined || (value < start && !isGrowth)) {
      isComplete = false;
      if (passes.some((pass, index) => index < at && valueIn(pass, metric, reading) !== undefined)) greatest = Infinity;
      continue;
    }
    greatest = Math.max(greatest, value - start);
    greatestShare = Math.max(greatestShare, start <= 0 ? Infinity : value / start - 1);
  }
  if (greatest === Infinity) greatestShare = Infinity;
  const change = { greatest, greatestShare, isComplete };
  known.set(key, change);
  return change;
}

function valueIn(pass: ScopePass | undefined, metric: MetricReference, { path, id }: ScopeReading): number | undefined {
  const one = pass?.readings.get(path);
  return one === undefined || one.id !== id ? undefined : gaugeOf(metric).read(one.values);
}

/** The value that meets the comparison soonest: of a share the quotient. */
function extremeOf(test: ComparisonTest, comparison: Comparison, readings: readonly ScopeReading[]): number {
  const { least, greatest } = extremesOf(test, readings);
  return isUpwards(comparison) ? greatest : least;
}

/** A value that is not known does not count: it makes no comparison true. */
function extremesOf(
  { metric, amount }: Pick<ComparisonTest, 'metric'> & Partial<Pick<ComparisonTest, 'amount'>>,
  readings: readonly ScopeReading[],
): Extremes {
  const base = amount?.kind === 'share' ? amount.of : undefined;
  const key = base === undefined ? metric.name : `${metric.name} / ${base.name}`;
  const known = KNOWN.get(readings) ?? new Map<string, Extremes>();
  KNOWN.set(readings, known);
  let extremes = known.get(key);
  if (extremes !== undefined) return extremes;
  let [least, greatest, isComplete] = [Infinity, -Infinity, true];
  for (const reading of readings) {
    const value = levelOf(metric, reading);
    const total = base === undefined ? 1 : gaugeOf(base).read(reading.values);
    if (value === undefined || total === undefined) {
      isComplete = false;
      continue;
    }
    if (total === 0 || value / total < least) least = total === 0 ? -Infinity : value / total;
    if (total === 0 || value / total > greatest) greatest = total === 0 ? Infinity : value / total;
  }
  extremes = { least, greatest, isComplete };
  known.set(key, extremes);
  return extremes;
}
