import type { Condition, MetricReference } from '../../../core/policy/condition.js';
import { gaugeOf, metricsOf, type Test } from '../../../core/policy/condition-needs.js';
import { METRICS } from '../../../core/policy/metric.js';
import type { FixedValue, PolicyFacts } from '../machine.js';

type Facts = Pick<PolicyFacts, 'fixed'>;

/**
 * Why a condition cannot be true (or false) on this machine; undefined: it can. A value that is missing leaves its tests
 * unknown, which is neither.
 */
export function whyNot(condition: Condition, truth: boolean, facts: Facts): string | undefined {
  switch (condition.kind) {
    case 'comparison':
    case 'trend':
    case 'exists':
      return whyNoTest(condition, truth, facts);
    case 'not':
      return whyNot(condition.condition, !truth, facts);
    case 'and':
    case 'or': {
      const reasons = condition.conditions.map((one) => whyNot(one, truth, facts));
      const needsAll = (condition.kind === 'and') === truth;
      return needsAll || reasons.every((reason) => reason !== undefined) ? reasons.find((reason) => reason !== undefined) : undefined;
    }
  }
}

function whyNoTest(test: Test, truth: boolean, facts: Facts): string | undefined {
  const missing = metricsOf(test)
    .map((reference) => fixedOf(reference, 'missing', facts))
    .find((one) => one !== undefined);
  if (test.kind === 'exists') return truth ? missing : undefined;
  if (missing !== undefined) return missing;
  const zero = fixedOf(test.metric, 'zero', facts);
  return zero === undefined || canBeZero(test, truth) ? undefined : zero;
}

function fixedOf({ name, of }: MetricReference, is: FixedValue['is'], { fixed }: Facts): string | undefined {
  const found = gaugeOf({ name, of })
    .needs.map((value) => fixed[of].get(value))
    .find((value) => value?.is === is);
  return found && `${name}: ${found.why}`;
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
