import type { Comparison, Condition, MetricReference } from '../policy/condition.js';
import { metricsOf, type Test } from '../policy/condition-needs.js';
import { METRICS } from '../policy/metric.js';
import { isSameMetric, neverExceeds } from './metric-bounds.js';
import { amountNumber } from './condition-amount.js';
import { conditionText, metricText } from './condition-text.js';

/** A test that holds, or does not. */
interface Literal {
  readonly test: Test;
  readonly holds: boolean;
}

/** Each case: tests that hold together. */
type Cases = readonly (readonly Literal[])[];

/** A condition with more cases is taken as one that can hold. */
const MAX_CASES = 1_000;

/**
 * A test that contradicts tests before it, where in each case of the condition one does: no readings can make the
 * condition true. undefined: they may. Sound, not complete: tests are compared with tests of the same window and unit, of
 * the same metric or of one that it never exceeds.
 */
export function contradiction(condition: Condition): Test | undefined {
  const cases = casesOf(condition, true) ?? [];
  const [first = []] = cases;
  if (!cases.every(contradicts)) return undefined;
  return first.find((_literal, index) => contradicts(first.slice(0, index + 1)))?.test;
}

/** The cases in which the condition holds, or does not. undefined: too many. */
function casesOf(condition: Condition, holds: boolean): Cases | undefined {
  switch (condition.kind) {
    case 'comparison':
    case 'trend':
    case 'exists':
      return [[{ test: condition, holds }]];
    case 'not':
      return casesOf(condition.condition, !holds);
    case 'and':
    case 'or': {
      const parts = condition.conditions.map((one) => casesOf(one, holds));
      return (condition.kind === 'and') === holds ? together(parts) : oneOf(parts);
    }
  }
}

function together(parts: readonly (Cases | undefined)[]): Cases | undefined {
  return parts.reduce<Cases | undefined>(
    (all, part) => {
      if (all === undefined || part === undefined || all.length * part.length > MAX_CASES) return undefined;
      return all.flatMap((one) => part.map((other) => [...one, ...other]));
    },
    [[]],
  );
}

function oneOf(parts: readonly (Cases | undefined)[]): Cases | undefined {
  const cases = parts.filter((part) => part !== undefined);
  return cases.length < parts.length || cases.flat().length > MAX_CASES ? undefined : cases.flat();
}

function contradicts(literals: readonly Literal[]): boolean {
  return literals.some((one, index) => literals.slice(index + 1).some((other) => excludes(one, other))) || isEmpty(intervalsOf(literals));
}

/** Whether two tests never hold together. Amounts are not compared here, but in intervals. */
function excludes(a: Literal, b: Literal): boolean {
  if (isAbsence(a) !== isAbsence(b)) return metricsOf(a.test).some((one) => metricsOf(b.test).some((other) => isSameMetric(one, other)));
  if (a.test.kind !== 'trend' || b.test.kind !== 'trend' || a.test.windowNs !== b.test.windowNs) return false;
  if (!isSameMetric(a.test.metric, b.test.metric)) return false;
  return a.test.direction === b.test.direction ? a.holds !== b.holds : a.holds && b.holds;
}

/** A metric that does not exist has no value: every other test of it is not known. */
function isAbsence({ test, holds }: Literal): boolean {
  return test.kind === 'exists' && !holds;
}

/** The values that all tests of a metric allow, over one window and in one unit. */
interface Interval {
  readonly metric: MetricReference;
  /** Window, unit, and what a share is of. */
  readonly measure: string;
  readonly least: number;
  readonly most: number;
  /** Whether `least`, or `most`, is not in it. */
  readonly above: boolean;
  readonly below: boolean;
}

/** No value is in one of them, or a metric is above one that it never exceeds. */
function isEmpty(intervals: readonly Interval[]): boolean {
  return intervals.some(({ metric, measure, least, above }) =>
    intervals.some((whole) => {
      if (whole.measure !== measure || !neverExceeds(metric, whole.metric)) return false;
      return least > whole.most || (least === whole.most && (above || whole.below));
    }),
  );
}

function intervalsOf(literals: readonly Literal[]): readonly Interval[] {
  const intervals = new Map<string, Interval>();
  for (const { test, holds } of literals) {
    if (test.kind !== 'comparison') continue;
    const { metric, amount, comparison, windowNs = 0n } = test;
    const base = amount.kind === 'share' && amount.of !== undefined ? metricText(amount.of, 'cgroup') : '';
    const measure = [amount.kind, base, String(windowNs)].join(' ');
    const key = `${metricText(metric, 'cgroup')} ${measure}`;
    const value = amountNumber(amount);
    intervals.set(
      key,
      narrowed(intervals.get(key) ?? { metric, measure, ...rangeOf(metric) }, holds ? comparison : OPPOSITE[comparison], value),
    );
  }
  return [...intervals.values()];
}

const OPPOSITE: Readonly<Record<Comparison, Comparison>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

/** The range of a metric without any test. */
function rangeOf({ name }: MetricReference): Omit<Interval, 'metric' | 'measure'> {
  const { kind, unit } = METRICS[name];
  return { least: kind === 'growth' ? -Infinity : 0, most: unit === 'share' ? 1 : Infinity, above: false, below: false };
}

function narrowed(interval: Interval, comparison: Comparison, value: number): Interval {
  const isStrict = comparison === '<' || comparison === '>';
  if (comparison === '<' || comparison === '<=') {
    if (value > interval.most) return interval;
    return { ...interval, most: value, below: isStrict || (value === interval.most && interval.below) };
  }
  if (value < interval.least) return interval;
  return { ...interval, least: value, above: isStrict || (value === interval.least && interval.above) };
}

/** Reports whether two conditions are the same, whatever their spelling: amounts, order and repetition of parts, `!` twice. */
export function sameCondition(a: Condition, b: Condition): boolean {
  return normalText(normal(a)) === normalText(normal(b));
}

/** A condition without repeated parts, and without parts that another part contains. */
function normal(condition: Condition): Condition {
  switch (condition.kind) {
    case 'comparison':
    case 'trend':
    case 'exists':
      return condition;
    case 'not': {
      const inner = normal(condition.condition);
      return inner.kind === 'not' ? inner.condition : { kind: 'not', condition: inner };
    }
    case 'and':
    case 'or': {
      const { kind } = condition;
      const parts = condition.conditions.map(normal).flatMap((one) => (one.kind === kind ? one.conditions : [one]));
      const byText = new Map(parts.map((one) => [normalText(one), one]));
      const kept = [...byText.values()].filter((one) => !absorbs(byText, one, kind === 'and' ? 'or' : 'and'));
      const [first = condition, ...others] = kept;
      return others.length === 0 ? first : { kind, conditions: kept };
    }
  }
}

/** `A` and `A & (A | B)` are the same, and so are `A` and `A | A & B`. */
function absorbs(beside: ReadonlyMap<string, Condition>, part: Condition, opposite: 'and' | 'or'): boolean {
  return part.kind === opposite && 'conditions' in part && part.conditions.some((one) => beside.has(normalText(one)));
}

function normalText(condition: Condition): string {
  switch (condition.kind) {
    case 'comparison': {
      const { amount } = condition;
      const value = amountNumber(amount);
      return conditionText({ ...condition, amount: { ...amount, text: `${amount.kind} ${String(value)}` } }, 'cgroup');
    }
    case 'trend':
    case 'exists':
      return conditionText(condition, 'cgroup');
    case 'not':
      return `!(${normalText(condition.condition)})`;
    case 'and':
    case 'or':
      return `(${condition.conditions
        .map(normalText)
        .sort()
        .join(condition.kind === 'and' ? ' & ' : ' | ')})`;
  }
}
