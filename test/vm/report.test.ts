import { expect, test } from 'vitest';
import { neverRun, type Report, summary } from './report.js';

const report = (suite: string, results: Partial<Report>): Report => ({
  suite,
  logs: `build/vm/${suite}`,
  seconds: 1,
  passed: [],
  failed: [],
  skipped: [],
  ...results,
});

test.each<[rule: string, reports: Report[], never: string[]]>([
  ['skipped everywhere', [report('v2', { skipped: ['a > t'] }), report('v1', { skipped: ['a > t'] })], ['a > t']],
  ['skipped in one, passed in another', [report('v2', { skipped: ['a > t'] }), report('v1', { passed: ['a > t'] })], []],
  ['skipped in one, failed in another: it ran', [report('v2', { skipped: ['a > t'] }), report('v1', { failed: ['a > t'] })], []],
  ['skipped in the only suite that has it', [report('v2', { skipped: ['a > t'] }), report('v1', { passed: ['b > t'] })], ['a > t']],
  ['for want of a compiler', [report('v2', { skipped: ['a > t (where there is a C compiler to count with)'] })], []],
  ['left out on purpose wherever it could run', [report('v2', { skipped: ['a > b > t'], only: /^(?!.*b t)/ })], []],
  [
    'left out in one, skipped in another',
    [report('v2', { skipped: ['a > t'], only: /^(?!t)/ }), report('v1', { skipped: ['a > t'], only: /^(?!u)/ })],
    ['a > t'],
  ],
  [
    'the controller in its name is not part of it',
    [report('v2', { skipped: ['a > kill (cgroup v2) > t'] }), report('v1', { passed: ['a > kill (cgroup v1) > t'] })],
    [],
  ],
])('%s', (_rule, reports, never) => {
  expect(neverRun(reports)).toEqual(never);
});

test('the last line is the sum, and a test that ran nowhere is a failure', () => {
  const reports = [report('v2', { passed: ['a', 'b'], failed: ['c'], skipped: ['d'] }), report('v1', { passed: ['a'], skipped: ['d'] })];
  const lines = summary(reports, neverRun(reports)).trimEnd().split('\n');
  expect(lines).toContain('failed in v2 (logs: build/vm/v2): c');
  expect(lines).toContain('skipped on every machine: d');
  expect(lines.at(-1)).toBe('3 passed, 2 failed');
});
