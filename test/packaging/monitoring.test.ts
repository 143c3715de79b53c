import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../src/metrics/definitions/all-metrics.js';
import { CHECK_EXIT_CODE } from '../../src/metrics/definitions/node-metrics.js';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const text = (file: string): string => readFileSync(file, 'utf8');
const { groups } = parse(text('packaging/prometheus/evictd.rules.yml')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const page = text('docs/alerts.md');
const sections = new Map(page.split(/^## /m).map((section) => [section.split('\n', 1)[0] ?? '', section]));

test.each(alerts.map((rule) => [rule.alert ?? '', rule] as const))(
  '%s has a severity, a summary, a description, a runbook and a test',
  (name, rule) => {
    expect(['critical', 'warning', 'info']).toContain(rule.labels?.severity);
    expect(Object.keys(rule.annotations ?? {})).toEqual(['summary', 'description', 'runbook']);
    expect(rule.annotations?.runbook).toBe(`alerts.md#${name.toLowerCase()}`);
    expect(sections.get(name)).toMatch(/\*\*Means\.\*\* [^]*\*\*Look\.\*\* [^]*\*\*Do\.\*\*/);
    expect(text('packaging/prometheus/evictd.rules.test.yml')).toContain(name);
    const [, listed] = new RegExp(`^\\| (\\w+) \\| .*\`${name}\``, 'm').exec(page) ?? [];
    expect(listed ?? 'warning').toBe(rule.labels?.severity);
  },
);

test('every section of the runbook has an alert', () => {
  const names = alerts.map(({ alert }) => alert);
  expect([...sections.keys()].filter((name) => name.startsWith('Evictd') && !names.includes(name))).toEqual([]);
});

/** Without what is in quotes; a rule records some, and node_exporter and Prometheus have others. */
function unknownMetrics(query: string): string[] {
  const known = new Set([
    ...[...METRICS, CHECK_EXIT_CODE].map(({ name }) => name),
    ...METRICS.flatMap(({ name, type }) => (type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [])),
    ...rules.flatMap(({ record }) => record ?? []),
  ]);
  const names = query.replace(/"[^"]*"/g, '').match(/(?:instance:)?\b(?:evictd|process)_[\w:]+/g) ?? [];
  return names.filter((name) => !known.has(name));
}

test('rules and dashboard query only metrics that evictd has', () => {
  expect(rules.flatMap(({ expr }) => unknownMetrics(expr))).toEqual([]);
  const queries = text('packaging/grafana/evictd.json').match(/"(?:expr|query)": "(?:[^"\\]|\\.)*"/g) ?? [];
  expect(queries.length).toBeGreaterThan(40);
  expect(queries.flatMap((query) => unknownMetrics(JSON.parse(query.slice(query.indexOf(':') + 2)) as string))).toEqual([]);
  expect(unknownMetrics('rate(evictd_typo_total[5m]) > instance:evictd_typo:ratio')).toEqual([
    'evictd_typo_total',
    'instance:evictd_typo:ratio',
  ]);
});
