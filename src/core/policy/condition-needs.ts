import type { Condition, MetricReference, ScopeKind } from './condition.js';
import type { ConfiguredPolicy } from './configured-policy.js';
import { METRICS, type Gauge } from './metric.js';
import { AMOUNT_SIGNALS, type AmountSignal } from '../signal/signal.js';
import type { RawValue } from './raw-value.js';

/** What must be read for conditions. */
export interface ConditionNeeds {
  readonly node: ReadonlySet<RawValue>;
  /** Values of each cgroup of the scope. */
  readonly cgroup: ReadonlySet<RawValue>;
  /** Values of named cgroups, by path. */
  readonly named: ReadonlyMap<string, ReadonlySet<RawValue>>;
  /** How far back a history must reach; 0: only the last reading counts. */
  readonly longestWindowNs: bigint;
  /** Readings further apart than half of it make the test coarser. undefined: no test has a window. */
  readonly shortestWindowNs: bigint | undefined;
}

/** Together. */
export function conditionNeeds(conditions: readonly Condition[]): ConditionNeeds {
  const needs: Readonly<Record<ScopeKind, Set<RawValue>>> = { node: new Set(), cgroup: new Set() };
  const named = new Map<string, Set<RawValue>>();
  const windows: bigint[] = [];
  const add = ({ of, path }: MetricReference, gauge: Gauge | undefined): void => {
    const values = path === undefined ? needs[of] : (named.get(path) ?? new Set());
    if (path !== undefined) named.set(path, values);
    gauge?.needs.forEach((value) => values.add(value));
  };
  for (const test of conditions.flatMap(testsOf)) {
    for (const reference of metricsOf(test)) add(reference, gaugeOf(reference));
    if (test.kind === 'comparison') add(test.metric, wholeOf(test));
    if (test.kind !== 'exists' && test.windowNs !== undefined) windows.push(test.windowNs);
  }
  windows.sort((a, b) => (a < b ? -1 : 1));
  return { ...needs, named, longestWindowNs: windows.at(-1) ?? 0n, shortestWindowNs: windows[0] };
}

export function policyNeeds(policies: readonly Pick<ConfiguredPolicy, 'when' | 'unless'>[]): ConditionNeeds {
  return conditionNeeds(policies.flatMap(({ when, unless }) => (unless === undefined ? [when] : [when, unless])));
}

const SIGNALS = new WeakMap<readonly ConfiguredPolicy[], readonly AmountSignal[]>();

/** The signals of the node that policies need. */
export function policySignals(policies: readonly ConfiguredPolicy[]): readonly AmountSignal[] {
  const known = SIGNALS.get(policies);
  if (known !== undefined) return known;
  const { node } = policyNeeds(policies);
  const signals = AMOUNT_SIGNALS.filter((signal) => node.has(signal) || node.has(`${signal}.capacity`));
  SIGNALS.set(policies, signals);
  return signals;
}

/** A part of a condition without other parts. */
export type Test = Extract<Condition, { readonly metric: MetricReference }>;

/** The tests in the order of the text. */
export function testsOf(condition: Condition): readonly Test[] {
  switch (condition.kind) {
    case 'comparison':
    case 'trend':
    case 'exists':
      return [condition];
    case 'not':
      return testsOf(condition.condition);
    case 'and':
    case 'or':
      return condition.conditions.flatMap(testsOf);
  }
}

/** The metric of the test, and the one that its percentage is of. */
export function metricsOf(test: Test): readonly MetricReference[] {
  const base = test.kind === 'comparison' && test.amount.kind === 'share' ? test.amount.of : undefined;
  return base === undefined ? [test.metric] : [test.metric, base];
}

/** The whole that a percentage is of, where the metric has one and the test is about it. */
export function wholeOf({ metric, amount }: Extract<Test, { readonly kind: 'comparison' }>): Gauge | undefined {
  return amount.kind === 'share' && amount.of === undefined ? METRICS[metric.name].whole : undefined;
}

export function gaugeOf({ name, of }: MetricReference): Gauge {
  const gauge = METRICS[name][of];
  if (gauge === undefined) throw new Error(`${name} is not a metric of a ${of}`);
  return gauge;
}
