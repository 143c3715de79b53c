import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';

import { DurationError, formatAge, formatDuration, parseDuration } from '../../../src/core/quantity/duration.js';

const S = 1_000_000_000n;
const INT64_MAX = 2n ** 63n - 1n;

describe('parsing', () => {
  test.each<[rule: string, text: string, ns: bigint]>([
    ['zero needs no unit', '0', 0n],
    ['signed zero, too', '-0', 0n],
    ['nanoseconds', '1ns', 1n],
    ['microseconds', '1us', 1000n],
    ['micro sign', '1\u00b5s', 1000n],
    ['Greek mu', '1\u03bcs', 1000n],
    ['milliseconds', '1ms', 1_000_000n],
    ['seconds', '1s', S],
    ['minutes', '1m', 60n * S],
    ['hours', '1h', 3600n * S],
    ['the sign is of the whole', '-1m30s', -90n * S],
    ['plus', '+5s', 5n * S],
    ['units repeat and come in any order', '1s1h1s', 3602n * S],
    ['there is no digit before the point', '.5s', S / 2n],
    ['there is no digit behind the point', '5.s', 5n * S],
    ['below a nanosecond is cut off', '0.999ns', 0n],
    ['each term is rounded down by itself', '0.6ns0.6ns', 0n],
    ['float arithmetic of Go, not exact', '0.3333333333333333333h', 1200n * S],
    ['the unit is divided before it is multiplied', '0.000005300000000h', 19_080_000n],
    ['digits past 2⁶³ are dropped', '0.9223372036854775808000000000000000001h', 3320413933267n],
    ['the largest', '9223372036854775807ns', INT64_MAX],
    ['the smallest', '-9223372036854775808ns', -INT64_MAX - 1n],
  ])('%s: %s', (_rule, text, ns) => {
    expect(parseDuration(text)).toBe(ns);
  });

  test.each<[rule: string, text: string, message: string]>([
    ['empty', '', 'time: invalid duration ""'],
    ['a sign alone', '-', 'time: invalid duration "-"'],
    ['there are two signs', '+-5s', 'time: invalid duration "+-5s"'],
    ['a sign in the middle', '5s-1s', 'time: unknown unit "s-" in duration "5s-1s"'],
    ['there are no digits', '.s', 'time: invalid duration ".s"'],
    ['a point at the end', '1s.', 'time: invalid duration "1s."'],
    ['there are two points', '1.2.3s', 'time: missing unit in duration "1.2.3s"'],
    ['there is no unit', '5', 'time: missing unit in duration "5"'],
    ['zero zero', '00', 'time: missing unit in duration "00"'],
    ['the last unit is missing', '5m30', 'time: missing unit in duration "5m30"'],
    ['the unit does not exist', '1d', 'time: unknown unit "d" in duration "1d"'],
    ['a property that every JavaScript object has is not a unit', '1toString', 'time: unknown unit "toString" in duration "1toString"'],
    ['a space before', ' 5s', 'time: invalid duration " 5s"'],
    ['a space behind', '5s ', 'time: unknown unit "s " in duration "5s "'],
    ['a newline is quoted as a byte', '5s\n', 'time: unknown unit "s\\x0a" in duration "5s\\x0a"'],
    ['a unit that is not ASCII is quoted byte by byte', '5€', 'time: unknown unit "\\xe2\\x82\\xac" in duration "5\\xe2\\x82\\xac"'],
    ['quotes and backslashes are escaped', '5"\\', 'time: unknown unit "\\"\\\\" in duration "5\\"\\\\"'],
    ['the number is one too large', '9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['the number is one too small', '-9223372036854775809ns', 'time: invalid duration "-9223372036854775809ns"'],
    ['a sum too large', '2562047h48m', 'time: invalid duration "2562047h48m"'],
    [
      'twice the limit does not overflow into a valid value',
      '-9223372036854775808ns9223372036854775808ns',
      'time: invalid duration "-9223372036854775808ns9223372036854775808ns"',
    ],
    ['a number that is too large is reported before a missing unit', '9223372036854775809', 'time: invalid duration "9223372036854775809"'],
  ])('%s: %j', (_rule, text, message) => {
    expect(() => parseDuration(text)).toThrow(new DurationError(message));
  });
});

describe('printing', () => {
  test.each<[rule: string, ns: bigint, text: string]>([
    ['zero', 0n, '0s'],
    ['nanoseconds', 999n, '999ns'],
    ['microseconds', 1_000n, '1µs'],
    ['seconds with a fraction', 1_500n, '1.5µs'],
    ['one nanosecond below a millisecond', 999_999n, '999.999µs'],
    ['milliseconds', 1_000_000n, '1ms'],
    ['one nanosecond below a second', S - 1n, '999.999999ms'],
    ['a second', S, '1s'],
    ['zeros inside a fraction stay', S + 1n, '1.000000001s'],
    ['one nanosecond below a minute', 60n * S - 1n, '59.999999999s'],
    ['a minute', 60n * S, '1m0s'],
    ['one nanosecond below an hour', 3600n * S - 1n, '59m59.999999999s'],
    ['an hour', 3600n * S, '1h0m0s'],
    ['hours are not converted to days', 100n * 3600n * S, '100h0m0s'],
    ['negative', -90n * S, '-1m30s'],
    ['negative below a second', -1n, '-1ns'],
    ['the largest', INT64_MAX, '2562047h47m16.854775807s'],
    ['the smallest', -INT64_MAX - 1n, '-2562047h47m16.854775808s'],
  ])('%s: %s', (_rule, ns, text) => {
    expect(formatDuration(ns)).toBe(text);
  });
});

describe('laws of durations', () => {
  test('a printed duration parses to the same duration', () => {
    const upTo = (max: bigint) => fc.bigInt({ min: -max, max });
    fc.assert(
      fc.property(fc.oneof(upTo(INT64_MAX), upTo(10n ** 12n), upTo(10n ** 7n)), (ns) => {
        expect(parseDuration(formatDuration(ns))).toBe(ns);
      }),
    );
  });

  test('any text gives a duration or a DurationError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.0-9nums h]{0,12}$/)), (text) => {
        try {
          parseDuration(text);
        } catch (error) {
          expect(error).toBeInstanceOf(DurationError);
        }
      }),
    );
  });
});

test.each<[age: bigint, text: string]>([
  [0n, '0s ago'],
  [999_999_999n, '0s ago'],
  [65_900_000_000n, '1m5s ago'],
])('an age is rounded down to seconds: %d ns', (age, text) => {
  expect(formatAge(age)).toBe(text);
});
