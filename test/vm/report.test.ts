import { expect, test } from 'vitest';
import { judged, neverRun, onceMore, type Report, saysNothing, summary } from './report.js';

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
  [
    'a test skipped in one suite and passed in another ran',
    [report('v2', { skipped: ['a > t'] }), report('v1', { passed: ['a > t'] })],
    [],
  ],
  [
    'a test skipped in one suite and failed in another ran',
    [report('v2', { skipped: ['a > t'] }), report('v1', { failed: ['a > t'] })],
    [],
  ],
  ['skipped in the only suite that has it', [report('v2', { skipped: ['a > t'] }), report('v1', { passed: ['b > t'] })], ['a > t']],
  [
    'a test skipped for want of a compiler may be skipped',
    [report('v2', { skipped: ['a > t (where there is a C compiler to count with)'] })],
    [],
  ],
  ['left out on purpose wherever it could run', [report('v2', { skipped: ['a > b > t'], only: /^(?!.*b t)/ })], []],
  [
    'a test left out in one suite and skipped in another never ran',
    [report('v2', { skipped: ['a > t'], only: /^(?!t)/ }), report('v1', { skipped: ['a > t'], only: /^(?!u)/ })],
    ['a > t'],
  ],
  [
    'a test skipped in one suite ran in another that has its file, and did not skip it',
    [report('v2', { skipped: ['a > t', 'b > u'] }), report('v1', { files: ['a'], except: ['b'] })],
    ['b > u'],
  ],
  [
    'the controller in its name is not part of it',
    [report('v2', { skipped: ['a > kill (cgroup v2) > t'] }), report('v1', { passed: ['a > kill (cgroup v1) > t'] })],
    [],
  ],
])('%s', (_rule, reports, never) => {
  expect(neverRun(reports)).toEqual({ skipped: never, untried: [] });
});

test('the last line is the sum, and a test that ran on no machine is a failure', () => {
  const reports = [report('v2', { passed: ['a', 'b'], failed: ['c'], skipped: ['d'] }), report('v1', { passed: ['a'], skipped: ['d'] })];
  const lines = summary(reports, neverRun(reports)).trimEnd().split('\n');
  expect(lines).toContain('failed in v2 (logs: build/vm/v2): c');
  expect(lines).toContain('skipped on every machine: d');
  expect(lines.at(-1)).toBe('3 passed, 2 failed');
});

const some = { passed: ['a'], failed: [], skipped: [] };
const none = { passed: [], failed: [], skipped: [] };

test.each<[rule: string, given: Parameters<typeof judged>, lost: string | undefined]>([
  ['all tests passed', [some, 0], undefined],
  ['some tests failed', [{ ...some, failed: ['b'] }, 1], undefined],
  ['the machine went down in the middle', [some, 125, 'the kernel panicked'], 'status 125: the kernel panicked'],
  ['the suite failed, but no test has', [some, 1], 'status 1'],
  ['no test ran', [none, 0], 'status 0'],
  ['no file had ended', [undefined, 124, 'over the limit'], 'no file of tests had ended, status 124: over the limit'],
  ['no file had ended, although the status is 0', [undefined, 0], 'no file of tests had ended, status 0'],
  ['ended by a signal', [undefined, null], 'no file of tests had ended, status null'],
])('the result of a suite: %s', (_rule, given, lost) => {
  expect(judged(...given)).toEqual({ ...(given[0] ?? none), ...(lost !== undefined && { lost }) });
});

test.each<[rule: string, given: Parameters<typeof saysNothing>, again: boolean]>([
  ['a test failed', [{ ...some, failed: ['b'] }, 1, true], false],
  ['an emulated machine went down', [some, 125, true], true],
  ['a machine that is not emulated went down', [some, 125, false], false],
  ['over the time limit, with results', [some, 124, true], false],
  ['over the time limit, without any', [undefined, 124, false], true],
  ['no file had ended, whatever the status', [undefined, 1, true], true],
])('whether a suite runs once more: %s', (_rule, given, again) => {
  expect(saysNothing(...given)).toBe(again);
});

test('after a second run a failure of the first run remains', () => {
  const first = report('v2', { passed: ['a'], failed: ['b', 'c'], lost: 'status 125' });
  const second = report('v2', { passed: ['a', 'b', 'd'], failed: ['c'], logs: 'build/vm/v2-again' });
  expect(onceMore(first, second)).toEqual(
    report('v2', { passed: ['a', 'd'], failed: ['b', 'c'], logs: 'build/vm/v2, build/vm/v2-again', seconds: 2 }),
  );
  expect(onceMore(report('v2', { lost: 'status 125' }), second)).toMatchObject({ failed: ['c'], logs: 'build/vm/v2-again' });
});

test('a lost suite is one failure, and tests that only it has are listed', () => {
  const reports = [
    report('v2', { lost: 'status 137: killed', files: ['x/', 'y/'], except: ['x/not'], only: /^(?!.*elsewhere)/, skipped: ['x/two > t'] }),
    report('v1', { skipped: ['x/one > t (cgroup v1)', 'x/two > t', 'x/not > t', 'x/one > elsewhere', 'z/other > t'] }),
  ];
  const nowhere = neverRun(reports);
  expect(nowhere).toEqual({
    skipped: ['x/not > t', 'x/one > elsewhere', 'x/two > t', 'z/other > t'],
    untried: [{ test: 'x/one > t (cgroup)', suite: 'v2' }],
  });
  const lines = summary(reports, { ...nowhere, skipped: [] })
    .trimEnd()
    .split('\n');
  expect(lines).toContain('failed in v2 (logs: build/vm/v2): the suite was lost: status 137: killed');
  expect(lines).toContain('not tried, because v2 was lost: x/one > t (cgroup)');
  expect(lines.at(-1)).toBe('0 passed, 1 failed');
});
