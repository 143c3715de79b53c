import type { Comparison, Condition, MetricReference } from './condition.js';
import { gaugeOf } from './condition-needs.js';
import { compares, levelOf } from './evaluate-condition.js';
import { METRICS } from './metric.js';
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

/**
 * Whether the condition may be true for one of these cgroups. False is certain: the largest of all is not large enough.
 * So mostly a hundred policies about hundreds of cgroups cost one comparison each.
 */
export function mayHold(condition: Condition, readings: readonly ScopeReading[]): boolean {
  switch (condition.kind) {
    case 'comparison':
      return mayCompare(condition, readings);
    case 'and':
      return condition.conditions.every((one) => mayHold(one, readings));
    case 'or':
      return condition.conditions.some((one) => mayHold(one, readings));
    case 'not':
    case 'trend':
    case 'exists':
      return true;
  }
}

function mayCompare(test: ComparisonTest, readings: readonly ScopeReading[]): boolean {
  const { metric, amount, comparison } = test;
  const { kind, unit, whole } = METRICS[metric.name];
  if (!isOfScope(metric) || kind !== 'level') return true;
  if (amount.kind === 'quantity') return compares(comparison, extremeOf(test, readings), amount.value);
  if (amount.kind !== 'share' || (amount.of !== undefined && !isOfScope(amount.of))) return true;
  if (amount.of === undefined)
    return unit !== 'share' || whole !== undefined || compares(comparison, extremeOf(test, readings), amount.ratio);
  return compares(comparison, extremeOf(test, readings), amount.ratio * (isUpwards(comparison) ? 1 - ROUNDING : 1 + ROUNDING));
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

/** The value that meets the comparison soonest: of a share the quotient. */
function extremeOf(test: ComparisonTest, readings: readonly ScopeReading[]): number {
  const { least, greatest } = extremesOf(test, readings);
  return isUpwards(test.comparison) ? greatest : least;
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
