import { metricText } from '../../../core/condition/condition-text.js';
import type { Condition, MetricReference } from '../../../core/policy/condition.js';
import { gaugeOf, metricsOf, type Test } from '../../../core/policy/condition-needs.js';
import { METRICS } from '../../../core/policy/metric.js';
import type { FixedValue, PolicyFacts } from '../machine.js';
import { whyOutOfRange, type Capacities } from './value-ranges.js';

export type ConditionFacts = Pick<PolicyFacts, 'fixed' | 'fixedIn'> & Capacities;

/** What counts as an obstacle. `known`: only what decides the truth; a missing value leaves it unknown. */
export type Obstacles = 'all' | 'known';

/** A test that cannot be true (or false) on this machine. */
export interface Obstacle {
  readonly test: Test;
  readonly why: string;
}

/**
 * What keeps a condition from being true (or false) on this machine: one test, or one of each branch of `|`. Empty: it can
 * be. A value that is missing leaves its tests unknown, which is neither.
 */
export function obstaclesTo(condition: Condition, truth: boolean, facts: ConditionFacts, which: Obstacles = 'all'): readonly Obstacle[] {
  switch (condition.kind) {
    case 'comparison':
    case 'trend':
    case 'exists': {
      const why = whyNoTest(condition, truth, facts, which);
      return why === undefined ? [] : [{ test: condition, why }];
    }
    case 'not':
      return obstaclesTo(condition.condition, !truth, facts, which);
    case 'and':
    case 'or': {
      const obstacles = condition.conditions.map((one) => obstaclesTo(one, truth, facts, which));
      if (needsAll(condition, truth)) return obstacles.find((some) => some.length > 0) ?? [];
      return obstacles.every((some) => some.length > 0) ? obstacles.flat() : [];
    }
  }
}

/** The branches of `|` that cannot be true here, beside one that can, and what keeps them from it. */
export function deadBranches(condition: Condition, facts: ConditionFacts, truth = true): readonly (readonly Obstacle[])[] {
  switch (condition.kind) {
    case 'comparison':
    case 'trend':
    case 'exists':
      return [];
    case 'not':
      return deadBranches(condition.condition, facts, !truth);
    case 'and':
    case 'or': {
      if (obstaclesTo(condition, truth, facts).length > 0) return [];
      return condition.conditions.flatMap((one) => {
        const obstacles = obstaclesTo(one, truth, facts);
        return obstacles.length > 0 ? [obstacles] : deadBranches(one, facts, truth);
      });
    }
  }
}

function needsAll({ kind }: Extract<Condition, { readonly kind: 'and' | 'or' }>, truth: boolean): boolean {
  return (kind === 'and') === truth;
}

function whyNoTest(test: Test, truth: boolean, facts: ConditionFacts, which: Obstacles): string | undefined {
  const missing = metricsOf(test)
    .map((reference) => fixedOf(reference, 'missing', facts))
    .find((one) => one !== undefined);
  if (test.kind === 'exists') return truth ? missing : undefined;
  if (missing !== undefined) return which === 'all' ? missing : undefined;
  const zero = fixedOf(test.metric, 'zero', facts);
  return zero === undefined || canBeZero(test, truth) ? whyOutOfRange(test, truth, facts) : zero;
}

function fixedOf(metric: MetricReference, is: FixedValue['is'], { fixed, fixedIn }: ConditionFacts): string | undefined {
  const values = metric.path === undefined ? fixed[metric.of] : fixedIn.get(metric.path);
  const found = gaugeOf(metric)
    .needs.map((value) => values?.get(value))
    .find((value) => value?.is === is);
  return found && `${metricText(metric, 'node')}: ${found.why}`;
}

/** Whether the test has this truth where the value is always 0. */
function canBeZero(test: Exclude<Test, { readonly kind: 'exists' }>, truth: boolean): boolean {
  if (test.kind === 'trend') return !truth;
  const { amount, comparison, metric } = test;
  // Growth of nothing, as a share of it, is not known.
  if (METRICS[metric.name].kind === 'growth' && amount.kind === 'share') return false;
  const limit = amount.kind === 'share' ? amount.ratio : amount.kind === 'rate' ? amount.perSecond : amount.value;
  const holds = { '<': 0 < limit, '<=': 0 <= limit, '>': 0 > limit, '>=': 0 >= limit }[comparison];
  return holds === truth;
}
