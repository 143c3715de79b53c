import { expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { SourceFacts, WorkloadFacts } from '../../../../src/features/doctor/machine-facts.js';
import { lintCheck, sourcesCheck } from '../../../../src/features/doctor/checks/workloads.js';
import { expectCheck, workloadFacts } from '../support.js';

const source: SourceFacts = { key: 'workloads[0]', text: '/a', workloads: 3, unreadable: 0, problems: [] };

test.each<[rule: string, facts: Partial<SourceFacts>, status: CheckStatus, summary: RegExp]>([
  ['three workloads', {}, 'ok', /^\/a: 3 workloads$/],
  ['one', { workloads: 1 }, 'ok', /^\/a: 1 workload$/],
  ['none now', { workloads: 0 }, 'degraded', /no workload exists now/],
  ['some cannot be read', { unreadable: 2 }, 'degraded', /3 workloads, and 2 that evictd cannot read/],
  ['it is not there', { problems: [{ code: 'EVICTD_SOURCE_MISSING', message: '/a does not exist' }] }, 'degraded', /^\/a does not exist$/],
])('workloads[0]: %s', (_rule, facts, status, summary) => {
  expectCheck(sourcesCheck.judge({ workloads: workloadFacts({ sources: [{ ...source, ...facts }] }) })[0], 'workloads[0]', status, summary);
});

test('each source has a check of its own', () => {
  expect(sourcesCheck.judge({ workloads: workloadFacts({ sources: [source, source] }) }).map(({ id }) => id)).toEqual([
    'workloads[0]',
    'workloads[1]',
  ]);
});

const warning = { level: 'warn', code: 'EVICTD_LINT_RULE_UNMATCHED', message: 'rules[0] matches no workload', hint: 'check it' } as const;

test.each<[rule: string, notices: WorkloadFacts['notices'], status: CheckStatus, summary: RegExp]>([
  ['no notices', [], 'ok', /no further warnings/],
  ['an info is not a warning', [{ ...warning, level: 'info' }], 'ok', /./],
  ['one warning', [warning], 'degraded', /^rules\[0\] matches no workload$/],
  ['several', [warning, warning, warning], 'degraded', /; and 2 more$/],
  [
    'codes that other checks report are left out',
    [
      { ...warning, code: 'EVICTD_WORKLOADS_NONE' },
      { ...warning, code: 'EVICTD_SOURCE_MISSING' },
    ],
    'ok',
    /./,
  ],
])('config.lint: %s', (_rule, notices, status, summary) => {
  expectCheck(lintCheck.judge({ workloads: workloadFacts({ notices }) })[0], 'config.lint', status, summary);
});
