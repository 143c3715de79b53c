import { expect, test } from 'vitest';
import {
  byEvictionPriority,
  mergeThresholds,
  resolve,
  thresholdKind,
  thresholdMet,
  thresholdsMet,
} from '../../../src/core/threshold/threshold.js';
import { resolvedText } from '../../vectors/kubelet/eviction-message.js';
import { Gi, Mi, observations, threshold, value } from '../support.js';

test.each<[rule: string, available: bigint, minReclaimOwed: boolean, met: boolean]>([
  ['exactly the limit is not below it', 100n * Mi, false, false],
  ['one byte below the limit', 100n * Mi - 1n, false, true],
  ['above the limit, min reclaim owed', 100n * Mi + 1n, true, true],
  ['one byte short of limit plus min reclaim', 150n * Mi - 1n, true, true],
  ['limit plus min reclaim is paid back', 150n * Mi, true, false],
  ['min reclaim does not count before a breach', 100n * Mi, false, false],
])('thresholdMet: %s', (_rule, available, minReclaimOwed, met) => {
  const limit = threshold('memory.available', '100Mi', { minReclaim: '50Mi' });
  const observed = { available, capacity: Gi, timeNs: 1n, source: 'test' };
  expect(thresholdMet(limit, observed, minReclaimOwed)).toBe(met);
});

test.each<[rule: string, text: string, capacity: bigint, expected: bigint, printed: string]>([
  ['a quantity does not depend on the capacity', '100Mi', 1n, 100n * Mi, '100Mi'],
  ['10% of 8Gi as a 32 bit float', '10%', 8n * Gi, 858993472n, '858993472'],
  ['a percentage is cut off', '50%', 3n, 1n, '1'],
  ['a percentage of a count prints as a binary quantity', '50%', 8192n, 4096n, '4Ki'],
  ['a fraction of a byte is a whole byte', '0.5', Gi, 1n, '500m'],
])('resolve: %s', (_rule, text, capacity, expected, printed) => {
  expect(resolve(value(text), capacity)).toBe(expected);
  expect(resolvedText(value(text), capacity)).toBe(printed);
});

test('a threshold without an observation is not met', () => {
  const list = [threshold('memory.available', '100Mi'), threshold('pid.available', '10')];
  expect(thresholdsMet(list, observations(1n, { 'pid.available': 9n }), false)).toEqual([list[1]]);
});

test('a grace period of zero makes a threshold hard', () => {
  expect(thresholdKind(threshold('memory.available', '1Gi', { graceSeconds: 0 }))).toBe('hard');
  expect(thresholdKind(threshold('memory.available', '1Gi', { graceSeconds: 1 }))).toBe('soft');
});

test('merged thresholds contain each threshold once', () => {
  const [a, b, c] = [threshold('memory.available', '1Gi'), threshold('memory.available', '2Gi'), threshold('pid.available', '5')];
  expect(mergeThresholds([a, b], [threshold('memory.available', '1Gi'), c])).toEqual([a, b, c]);
});

test('thresholds of memory are sorted first, and hard before soft, whatever their order was', () => {
  const sorted = [
    threshold('memory.available', '100Mi'),
    threshold('memory.available', '500Mi', { graceSeconds: 30 }),
    threshold('nodefs.available', '10%'),
    threshold('pid.available', '10'),
  ];
  expect([...sorted].reverse().sort(byEvictionPriority)).toEqual(sorted);
});
