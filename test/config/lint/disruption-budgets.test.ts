import { describe, expect, test } from 'vitest';
import { disruptionBudgetsRule } from '../../../src/config/lint/disruption-budgets.js';
import { issuesOf, load } from '../scratch.js';
import { machine, present, subject } from './support.js';

const yaml = (...entries: string[]): string => `disruptionBudgets:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`;
const read = (...entries: string[]) => load({ 'config.yaml': yaml(...entries) }).config.disruptionBudgets;

describe('disruptionBudgets', () => {
  test('has a number or a percentage of workloads, and what a workload must have', () => {
    expect(
      read(
        '{ name: web, match: { name: web-* }, minAvailable: 2 }',
        '{ name: db, match: { labels: { app: db } }, maxUnavailable: 30%, expected: 3, unhealthyPolicy: AlwaysAllow }',
      ),
    ).toEqual([
      {
        name: 'web',
        match: { name: 'web-*' },
        limit: { of: 'minAvailable', value: 2, isPercentage: false },
        unhealthyPolicy: 'IfHealthyBudget',
      },
      {
        name: 'db',
        match: { labels: { app: 'db' } },
        limit: { of: 'maxUnavailable', value: 30, isPercentage: true },
        expected: 3,
        unhealthyPolicy: 'AlwaysAllow',
      },
    ]);
  });

  test.each<[wrong: string, entry: string, issue: string]>([
    ['a budget without a limit', '{ name: web, match: {} }', 'config.yaml:2:5 EVICTD_CONFIG_MISSING'],
    ['a budget with both limits', '{ name: web, match: {}, minAvailable: 1, maxUnavailable: 1 }', 'config.yaml:2:62 EVICTD_CONFIG_VALUE'],
    ['a percentage above 100', '{ name: web, match: {}, minAvailable: 101% }', 'config.yaml:2:43 EVICTD_CONFIG_VALUE'],
    ['below 0', '{ name: web, match: {}, minAvailable: -1 }', 'config.yaml:2:43 EVICTD_CONFIG_VALUE'],
    ['half a workload', '{ name: web, match: {}, minAvailable: 1.5 }', 'config.yaml:2:43 EVICTD_CONFIG_VALUE'],
    ['a name that no label of a metric has', '{ name: Web, match: {}, minAvailable: 1 }', 'config.yaml:2:13 EVICTD_CONFIG_VALUE'],
    ['an unknown policy', '{ name: web, match: {}, minAvailable: 1, unhealthyPolicy: Never }', 'config.yaml:2:63 EVICTD_CONFIG_VALUE'],
  ])('%s', (_wrong, entry, issue) => {
    expect(issuesOf(() => read(entry))).toEqual([issue]);
  });

  test('have distinct names', () => {
    const entry = '{ name: web, match: {}, minAvailable: 1 }';
    expect(issuesOf(() => read(entry, entry))).toEqual(['config.yaml:3:5 EVICTD_CONFIG_VALUE']);
  });
});

describe('lint of disruption budgets', () => {
  const web = (name: string, budgets = ['web']) => present(name, { budgets });
  const vacant = present('web-9', { budgets: ['web'], unevictable: { kind: 'vacant', text: 'it has no process' } });

  test.each<[rule: string, entry: string, workloads: ReturnType<typeof web>[], expected: string[]]>([
    ['a budget permits one eviction', '{ name: web, match: {}, minAvailable: 2 }', [web('a'), web('b'), web('c')], []],
    ['a budget permits no unavailable workload', '{ name: web, match: {}, maxUnavailable: 0 }', [], ['NONE']],
    ['a budget needs all workloads', '{ name: web, match: {}, minAvailable: 100% }', [], ['NONE']],
    ['a budget needs more workloads than expected', '{ name: web, match: {}, minAvailable: 3, expected: 3 }', [], ['NONE']],
    ['fewer than expected must be available', '{ name: web, match: {}, minAvailable: 2, expected: 3 }', [], []],
    ['a budget needs as many workloads as exist', '{ name: web, match: {}, minAvailable: 2 }', [web('a'), web('b')], ['NONE']],
    ['a workload without a process does not count', '{ name: web, match: {}, minAvailable: 2 }', [web('a'), web('b'), vacant], ['NONE']],
    ['matches none', '{ name: web, match: {}, minAvailable: 2 }', [web('a', [])], ['UNMATCHED']],
    ['there are no workloads', '{ name: web, match: {}, minAvailable: 2 }', [], []],
    [
      'the second of two budgets of a workload',
      '{ name: web, match: {}, minAvailable: 1 }',
      [web('a', ['all', 'web']), web('b')],
      ['TWICE'],
    ],
    ['the first of two budgets of a workload', '{ name: web, match: {}, minAvailable: 1 }', [web('a', ['web', 'all']), web('b')], []],
  ])('%s', (_rule, entry, workloads, expected) => {
    const found = disruptionBudgetsRule.find(
      subject([], { disruptionBudgets: read(entry) }),
      machine({ workloads: { present: workloads, sources: [] } }),
    );
    expect(found.map(({ code }) => code)).toEqual(expected.map((code) => `EVICTD_LINT_DISRUPTION_${code}`));
  });
});
