import type { Condition, ScopeKind, Truth } from '../../../src/core/policy/condition.js';
import { conditionNeeds } from '../../../src/core/policy/condition-needs.js';
import { evaluateCondition, type ConditionReadings } from '../../../src/core/policy/evaluate-condition.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import { remember, type ScopeHistory, NO_PASSES, rememberPass, type ScopePasses } from '../../../src/core/policy/scope-history.js';
import type { ScopeReading } from '../../../src/core/policy/scope-reading.js';
import { conditionOf, SECOND_NS } from '../condition/conditions.js';

export type Values = Partial<Record<RawValue, number>>;

export function reading(seconds: number, values: Values, scope: ScopeKind = 'cgroup'): ScopeReading {
  const entries = Object.entries(values) as [RawValue, number][];
  return { path: scope === 'node' ? '' : '/a', timeNs: BigInt(Math.round(seconds * 1e9)), values: new Map(entries) };
}

/** By the second that each was read at. */
export type Series = Readonly<Record<number, Values>>;

export function historyOf(series: Series, windowNs: bigint, scope: ScopeKind): ScopeHistory | undefined {
  const readings = Object.entries(series).map(([seconds, values]) => reading(Number(seconds), values, scope));
  return readings.reduce<ScopeHistory | undefined>((history, one) => remember(history, one, windowNs), undefined);
}

/** The passes that read these cgroups. */
export function passesOf(cgroups: Readonly<Record<string, Series>>, windowNs: bigint): ScopePasses {
  const seconds = [...new Set(Object.values(cgroups).flatMap((series) => Object.keys(series).map(Number)))].toSorted((a, b) => a - b);
  return seconds.reduce<ScopePasses>((passes, second) => {
    const read = Object.entries(cgroups).flatMap(([path, { [second]: values }]) =>
      values === undefined ? [] : [{ ...reading(second, values), path }],
    );
    return rememberPass(passes, [read], windowNs);
  }, NO_PASSES);
}

/** The truth after readings of the cgroup, and of the node. */
export function truthOf(text: string, cgroup: Series, node: Series = {}): Truth {
  const condition = conditionOf(text, 'cgroup');
  return evaluateCondition(condition, readingsFor(condition, cgroup, node));
}

export function readingsFor(condition: Condition, cgroup: Series, node: Series): ConditionReadings {
  const { longestWindowNs } = conditionNeeds([condition]);
  const histories = { cgroup: historyOf(cgroup, longestWindowNs, 'cgroup'), node: historyOf(node, longestWindowNs, 'node') };
  return { ...(histories.cgroup && { cgroup: histories.cgroup }), ...(histories.node && { node: histories.node }) };
}

export { SECOND_NS };
