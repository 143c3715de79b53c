import { metricText } from '../../../core/condition/condition-text.js';
import type { Comparison, MetricReference } from '../../../core/policy/condition.js';
import type { Test } from '../../../core/policy/condition-needs.js';
import { METRICS, type MetricName } from '../../../core/policy/metric.js';
import { amountOf, amountOfBytes } from '../../../core/quantity/amount.js';
import { AMOUNT_SIGNALS, type Signal } from '../../../core/signal/signal.js';
import type { MachineFacts, PolicyFacts } from '../machine.js';

export type Capacities = Pick<MachineFacts, 'capacities'> & Pick<PolicyFacts, 'total'>;

/** In the unit of the metric, both included. */
interface Range {
  readonly low: number;
  readonly high: number;
  /** Left out: any value. */
  readonly why?: string;
}

const ANY: Range = { low: 0, high: Infinity };

/** Why a comparison with an amount cannot have this truth, whatever is in use; undefined: it can. */
export function whyOutOfRange(test: Test, truth: boolean, facts: Capacities): string | undefined {
  if (test.kind !== 'comparison' || METRICS[test.metric.name].kind !== 'level') return undefined;
  const { metric, comparison, amount } = test;
  const whole = amount.kind === 'share' ? amount.of : undefined;
  if (amount.kind === 'rate' || (amount.kind === 'share' && whole === undefined)) return undefined;
  const value = rangeOf(metric, facts);
  const base = whole === undefined ? { low: 1, high: 1 } : rangeOf(whole, facts);
  const factor = amount.kind === 'share' ? amount.ratio : amount.value;
  const limit = { low: base.low * factor, high: factor === 0 ? 0 : base.high * factor };
  return isPossible(comparison, truth, value, limit) ? undefined : [value, base].flatMap(({ why }: Partial<Range>) => why ?? []).join(', ');
}

function isPossible(comparison: Comparison, truth: boolean, value: Range, limit: Range): boolean {
  switch (comparison) {
    case '<':
      return truth ? value.low < limit.high : value.high >= limit.low;
    case '<=':
      return truth ? value.low <= limit.high : value.high > limit.low;
    case '>':
      return isPossible('<=', !truth, value, limit);
    case '>=':
      return isPossible('<', !truth, value, limit);
  }
}

/** Metrics of the node that are a capacity. */
const TOTALS: Readonly<Partial<Record<MetricName, Signal>>> = { 'memory.total': 'memory.available', 'swap.total': 'swap.available' };

/** Metrics that are a part of the memory or swap. */
const PARTS: Readonly<Partial<Record<MetricName, 'memory' | 'swap'>>> = {
  'memory.current': 'memory',
  'memory.anon': 'memory',
  'memory.file': 'memory',
  'memory.shmem': 'memory',
  'memory.boundNodes.available': 'memory',
  'memory.boundNodes.used': 'memory',
  'memory.swap': 'swap',
};

function rangeOf(metric: MetricReference, { capacities, total }: Capacities): Range {
  const text = metricText(metric, 'node');
  const fixedBy = TOTALS[metric.name];
  const capacity = fixedBy && capacities.get(fixedBy);
  if (fixedBy !== undefined && capacity !== undefined)
    return { low: Number(capacity), high: Number(capacity), why: `${text} is ${amountOf(fixedBy, capacity)}` };
  const part = PARTS[metric.name];
  const signal = part === undefined ? AMOUNT_SIGNALS.find((name) => name === metric.name) : (`${part}.available` as const);
  // A cgroup may be outside of the node, but not of the machine.
  const most = part !== undefined && metric.of === 'cgroup' ? total?.[part] : signal && capacities.get(signal);
  if (signal === undefined || most === undefined) return ANY;
  return { low: 0, high: Number(most), why: `${text} is at most ${part === undefined ? amountOf(signal, most) : amountOfBytes(most)}` };
}
