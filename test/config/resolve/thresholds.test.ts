import { expect, test } from 'vitest';
import {
  combineThresholds,
  parseGracePeriod,
  parseMinimumReclaim,
  parseSignal,
  parseThresholdValue,
  type ThresholdError,
} from '../../../src/config/resolve/thresholds.js';
import { valueText } from '../../../src/core/threshold/threshold.js';

/** The expected results are those of the kubelet v1.36.2 (test/vectors/README.md, thresholds.jsonl). */
test.each<[text: string, value: string | number | undefined]>([
  ['100Mi', '100Mi'],
  ['1000', '1k'],
  ['0%', undefined],
  ['100%', undefined],
  ['0.0%', 0],
  ['100.0%', 1],
  ['10%', 0.10000000149011612],
  ['10%%', 0.10000000149011612],
  ['.5%', 0.004999999888241291],
  ['0x1p3%', 0.07999999821186066],
  ['64.000011444091796874999999999999999%', 0.6400001049041748],
  ['64.000011444091796875%', 0.6400001645088196],
  ['NaN%', NaN],
])('a threshold of %s is parsed', (text, expected) => {
  const value = parseThresholdValue('nodefs.available', text);
  expect(value?.kind === 'percentage' ? value.fraction : value?.quantity.text).toEqual(expected);
});

test.each<[text: string, message: string]>([
  ['-5%', 'eviction percentage threshold memory.available must be >= 0%: -5%'],
  ['100.1%', 'eviction percentage threshold memory.available must be <= 100%: 100.1%'],
  ['x%', 'strconv.ParseFloat: parsing "x": invalid syntax'],
  ['%', 'strconv.ParseFloat: parsing "": invalid syntax'],
  ['0Mi', 'eviction threshold memory.available must be positive: 0'],
  ['-0.1n', 'eviction threshold memory.available must be positive: -1n'],
  ['-1.234k', 'eviction threshold memory.available must be positive: -1.234k'],
  ['', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ['1e', "unable to parse quantity's suffix"],
])('a threshold of %j is an error', (text, message) => {
  expect(() => parseThresholdValue('memory.available', text)).toThrow(message);
});

test.each<[text: string, expected: string]>([
  ['0', '0'],
  ['500Mi', '500Mi'],
  ['150%', '150%'],
  ['0.1%', '0.1%'],
])('a minimum reclaim of %s is parsed', (text, expected) => {
  expect(valueText(parseMinimumReclaim('memory.available', text))).toBe(expected);
});

test.each<[text: string, message: string]>([
  ['0%', 'eviction percentage minimum reclaim memory.available must be positive: 0%'],
  ['-5%', 'eviction percentage minimum reclaim memory.available must be positive: -5%'],
  ['-1', 'negative eviction minimum reclaim specified for memory.available'],
])('a minimum reclaim of %s is an error', (text, message) => {
  expect(() => parseMinimumReclaim('memory.available', text)).toThrow(message);
});

test.each<[text: string, ns: bigint]>([
  ['0s', 0n],
  ['-0s', 0n],
  ['1.5m', 90_000_000_000n],
])('a grace period of %s is parsed', (text, ns) => {
  expect(parseGracePeriod(text)).toBe(ns);
});

test('a negative grace period and an unknown signal are refused', () => {
  expect(() => parseGracePeriod('-1ns')).toThrow('invalid eviction grace period specified: -1ns, must be a positive value');
  expect(() => parseSignal('memory')).toThrow('unsupported eviction signal memory');
  expect(parseSignal('imagefs.inodesFree')).toBe('imagefs.inodesFree');
});

test('thresholds are sorted by signal, hard before soft, and grace period; a soft one without a grace period is reported', () => {
  const quantity = (text: string) => parseMinimumReclaim('', text);
  const missing: ThresholdError[] = [];
  const thresholds = combineThresholds(
    {
      soft: new Map([
        ['pid.available', quantity('9')],
        ['memory.available', quantity('2Gi')],
        ['imagefs.available', quantity('1Gi')],
      ]),
      hard: new Map([
        ['pid.available', quantity('5')],
        ['memory.available', quantity('1Gi')],
      ]),
      gracePeriodNs: new Map([
        ['pid.available', 0n],
        ['memory.available', 7n],
        ['nodefs.available', 7n],
      ]),
      minReclaim: new Map([['memory.available', quantity('1Mi')]]),
    },
    false,
    (_signal, error) => missing.push(error),
  );
  expect(
    thresholds.map(({ signal, value, gracePeriodNs, minReclaim }) => [
      signal,
      valueText(value),
      gracePeriodNs,
      minReclaim && valueText(minReclaim),
    ]),
  ).toEqual([
    ['memory.available', '1Gi', 0n, '1Mi'],
    ['memory.available', '2Gi', 7n, '1Mi'],
    ['pid.available', '5', 0n, undefined],
    ['pid.available', '9', 0n, undefined],
  ]);
  expect(missing.map(({ message }) => message)).toEqual([
    'grace period must be specified for the soft eviction threshold imagefs.available',
  ]);
});
