import { formatDuration } from '../quantity/duration.js';
import type { Condition, MetricReference, ScopeKind } from '../policy/condition.js';
import { METRICS } from '../policy/metric.js';

/** The condition as parseCondition reads it, with every window and without needless parentheses. */
export function conditionText(condition: Condition, scope: ScopeKind): string {
  switch (condition.kind) {
    case 'comparison': {
      const { metric, comparison, amount, windowNs } = condition;
      const of = amount.kind === 'share' && amount.of !== undefined ? ` of ${metricText(amount.of, scope)}` : '';
      return `${metricText(metric, scope)} ${comparison} ${amount.text}${of}${windowNs === undefined ? '' : over(windowNs)}`;
    }
    case 'trend':
      return `${metricText(condition.metric, scope)} ${condition.direction}${over(condition.windowNs)}`;
    case 'exists':
      return `${existingText(condition.metric, scope)} exists`;
    case 'not':
      return `!${within(condition.condition, ['and', 'or'], scope)}`;
    case 'and':
      return condition.conditions.map((one) => within(one, ['or'], scope)).join(' & ');
    case 'or':
      return condition.conditions.map((one) => conditionText(one, scope)).join(' | ');
  }
}

/** The text of a part, in parentheses if it binds more loosely than the text around it. */
function within(condition: Condition, looser: readonly Condition['kind'][], scope: ScopeKind): string {
  const text = conditionText(condition, scope);
  return looser.includes(condition.kind) ? `(${text})` : text;
}

function existingText(metric: MetricReference, scope: ScopeKind): string {
  return metric.path !== undefined && metric.name === 'age' ? `cgroup(${metric.path})` : metricText(metric, scope);
}

/** The metric as it is written in a policy of this scope. */
export function metricText({ name, of, path }: MetricReference, scope: ScopeKind): string {
  if (path !== undefined) return `cgroup(${path}).${name}`;
  const isOther = of === 'node' && scope === 'cgroup' && METRICS[name].cgroup !== undefined;
  return isOther ? `node.${name}` : name;
}

function over(windowNs: bigint): string {
  return ` over ${formatDuration(windowNs)}`;
}
