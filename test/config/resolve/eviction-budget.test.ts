import { expect, test } from 'vitest';
import { issuesOf, load } from '../scratch.js';

const budget = (yaml: string, later = '{}\n') => load({ 'config.yaml': yaml, 'config.d/50.yaml': later }).config.evictionBudget;

test('the default is five evictions in ten minutes, and the bands of a later file replace the others', () => {
  expect(budget('{}\n')).toEqual({ max: 5, windowNs: 600_000_000_000n, bands: [] });
  const bands = 'evictionBudget: {max: 0, bands: [{minPriority: -7, max: 3}]}\n';
  expect(budget(bands)).toEqual({ max: 0, windowNs: 600_000_000_000n, bands: [{ minPriority: -7, max: 3 }] });
  expect(budget(bands, 'evictionBudget: {window: 1s, bands: [{minPriority: 1, max: 1}]}\n')).toEqual({
    max: 0,
    windowNs: 1_000_000_000n,
    bands: [{ minPriority: 1, max: 1 }],
  });
});

test('the profile kubelet accepts the key if it has the departure', () => {
  expect(budget('compatibility: kubelet\ndepartures: {budget: true}\nevictionBudget: {max: 3}\n')).toMatchObject({ max: 3 });
});

test.each<[rule: string, yaml: string, issue: string]>([
  ['less than no eviction', '{max: -1}', '1:23 EVICTD_CONFIG_RANGE'],
  ['a number in quotes', "{max: '5'}", '1:23 EVICTD_CONFIG_TYPE'],
  ['a window that is over at once', '{window: 999ms}', '1:26 EVICTD_CONFIG_RANGE'],
  ['a window of more than a week', '{window: 169h}', '1:26 EVICTD_CONFIG_RANGE'],
  ['a band without a number', '{bands: [{minPriority: 1}]}', '1:26 EVICTD_CONFIG_TYPE'],
  ['a band without a priority', '{bands: [{max: 1}]}', '1:26 EVICTD_CONFIG_TYPE'],
  ['an unknown key', '{maximum: 1}', '1:18 EVICTD_CONFIG_UNKNOWN_KEY'],
])('an eviction budget is refused: %s', (_rule, yaml, issue) => {
  expect(issuesOf(() => budget(`evictionBudget: ${yaml}\n`))).toEqual([`config.yaml:${issue}`]);
});
