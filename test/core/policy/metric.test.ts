import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { METRIC_LIST, METRICS, type MetricDefinition } from '../../../src/core/policy/metric.js';
import { RAW_VALUES, type RawValue } from '../../../src/core/policy/raw-value.js';
import { metricTable } from './metric-table.js';

const definitions: readonly MetricDefinition[] = METRIC_LIST;

test('docs/policy-metrics.md has the table of the metrics, and the sums', () => {
  const [, table] = /<!-- metrics -->\n([^]*?)\n?<!-- \/metrics -->/.exec(readFileSync('docs/policy-metrics.md', 'utf8')) ?? [];
  expect(table).toBe(metricTable());
});

test('every metric has a name of its own, and exists for cgroups or for the node', () => {
  expect(Object.keys(METRICS)).toHaveLength(METRIC_LIST.length);
  expect(definitions.filter(({ cgroup, node }) => cgroup === undefined && node === undefined)).toEqual([]);
});

test('a metric of a change reads a counter, and a metric of a level reads none', () => {
  const wrong = definitions.filter(({ kind, cgroup, node }) => {
    const needs = [...(cgroup?.needs ?? []), ...(node?.needs ?? [])];
    const counts = kind === 'counter' || kind === 'stall';
    return needs.some((value) => (RAW_VALUES[value].counter === true) !== counts);
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

/** For the choice of a victim. */
const OF_VICTIMS: readonly string[] = ['memory.oom.group', 'memory.protected', 'oom_score'] satisfies RawValue[];

test('every raw value is used by a metric, or by a comparator of victims', () => {
  const used = new Set(definitions.flatMap(({ cgroup, node, whole }) => [cgroup, node, whole].flatMap((gauge) => gauge?.needs ?? [])));
  expect((Object.keys(RAW_VALUES) as RawValue[]).filter((value) => !used.has(value))).toEqual(OF_VICTIMS);
});

test('a metric reads only the raw values that it needs', () => {
  for (const { name, cgroup, node, whole } of definitions) {
    for (const gauge of [cgroup, node, whole]) {
      if (gauge === undefined) continue;
      const known = new Map(gauge.needs.map((value, index) => [value, 10 ** index] as const));
      expect(gauge.read(known), name).not.toBeUndefined();
      for (const value of gauge.needs) expect(gauge.read(new Map([...known].filter(([one]) => one !== value))), name).toBeUndefined();
    }
  }
});
