import type { Condition } from './condition.js';
import { wholeOf, type Test } from './condition-needs.js';
import { levelOf } from './evaluate-condition.js';
import { METRICS, type MetricName } from './metric.js';
import { PRESSURE_AVERAGES } from './raw-value.js';
import { greatestOf } from './scope-extremes.js';
import type { ScopeReading } from './scope-reading.js';

type ComparisonTest = Extract<Test, { readonly kind: 'comparison' }>;

/** What was read just now. */
export interface LeadReadings {
  /** undefined: not known. */
  readonly node: ScopeReading | undefined;
  /** The cgroups of the scope that are there. undefined: not known, or the policy has none. */
  readonly scope: readonly ScopeReading[] | undefined;
  /** A notifier wakes evictd when memory.available falls below it, in bytes. Left out: none does. */
  readonly watched?: number | undefined;
}

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
      return Math.max(...condition.conditions.map((one) => conditionLeadS(one, readings, bytesPerSecond)));
    case 'or':
      return Math.min(...condition.conditions.map((one) => conditionLeadS(one, readings, bytesPerSecond)));
    case 'not':
    case 'trend':
    case 'exists':
      return 0;
  }
}

function comparisonLeadS(test: ComparisonTest, { node, scope, watched = 0 }: LeadReadings, bytesPerSecond: number): number {
  const { metric, comparison, amount } = test;
  const isUpwards = comparison.startsWith('>');
  if (METRICS[metric.name].kind !== 'level' || metric.path !== undefined) return 0;
  if (metric.name === 'memory.available') {
    const [available, limit] = [node && levelOf(metric, node), availableLimit(test, node)];
    if (isUpwards || available === undefined || limit === undefined) return 0;
    return available >= watched && watched > limit ? Infinity : (available - limit) / bytesPerSecond;
  }
  const value = metric.of === 'node' ? node && levelOf(metric, node) : scope && greatestOf(metric, scope);
  if (value === undefined || !isUpwards) return 0;
  const average = PRESSURE_AVERAGES.find((one) => metric.name.endsWith(`.${one}`));
  if (average !== undefined && amount.kind === 'share' && amount.of === undefined) {
    return averageLeadS(Number(average.slice('avg'.length)), value, amount.ratio);
  }
  if (metric.of !== 'cgroup' || !FILLED.has(metric.name) || amount.kind !== 'quantity') return 0;
  return (amount.value - value) / bytesPerSecond;
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
