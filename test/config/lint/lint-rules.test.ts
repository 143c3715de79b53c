import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { LintRule } from '../../../src/config/lint/lint-rule.js';
import { LINT_RULES, lintPolicy } from '../../../src/config/lint/lint-rules.js';
import { threshold } from '../../core/support.js';
import { machine, subject } from './support.js';

/** All that a new kind of finding consists of; its line in the list is below. */
const fewProcessesRule: LintRule = {
  codes: ['EVICTD_LINT_FEW_PROCESSES'],
  find: (_subject, facts) => {
    const capacity = facts?.capacities.get('pid.available');
    if (capacity === undefined || capacity >= 4096n) return [];
    const message = `the machine allows only ${String(capacity)} processes`;
    return [{ level: 'info', code: 'EVICTD_LINT_FEW_PROCESSES', message, key: 'evictionHard.pid.available' }];
  },
};

test('a new finding is one definition and one line in the list', () => {
  const found = lintPolicy(subject([threshold('memory.available', '100Mi')]), machine(), [...LINT_RULES, fewProcessesRule]);
  expect(found).toMatchObject([{ code: 'EVICTD_LINT_FEW_PROCESSES', message: 'the machine allows only 1000 processes' }]);
});

test('docs/lint.md has every code', () => {
  const text = readFileSync('docs/lint.md', 'utf8');
  expect(LINT_RULES.flatMap(({ codes }) => codes).filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
});
