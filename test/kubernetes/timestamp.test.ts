import { expect, test } from 'vitest';
import { parseTime } from '../../src/kubernetes/timestamp.js';

const SECOND = 1_000_000_000n;

test.each<[rule: string, text: string, ns: bigint]>([
  ['the beginning', '1970-01-01T00:00:00Z', 0n],
  ['a second before 1970', '1969-12-31T23:59:59Z', -SECOND],
  ['a nanosecond', '1970-01-01T00:00:00.000000001Z', 1n],
  ['less is cut off', '1970-01-01T00:00:00.0000000019Z', 1n],
  ['tenths', '1970-01-01T00:00:01.5Z', 1_500_000_000n],
  ['a fraction before the beginning adds', '1969-12-31T23:59:59.25Z', -750_000_000n],
  ['east', '1970-01-01T02:00:00+02:00', 0n],
  ['west', '1969-12-31T18:30:00-05:30', 0n],
  ['a leap day', '2024-02-29T00:00:00Z', 1709164800n * SECOND],
  ['a nanosecond after the zero time', '0001-01-01T00:00:00.000000001Z', -62135596800n * SECOND + 1n],
])('%s', (_rule, text, ns) => {
  expect(parseTime(text)).toEqual({ kind: 'time', ns });
});

test.each([
  ['as the API writes it', '0001-01-01T00:00:00Z'],
  ['in another zone', '0001-01-01T01:00:00+01:00'],
])('the zero time is parsed, %s', (_rule, text) => {
  expect(parseTime(text)).toEqual({ kind: 'zero' });
});

test.each([
  ['empty', ''],
  ['a date alone', '2026-01-01'],
  ['the zone is missing', '2026-01-01T00:00:00'],
  ['a space in the middle', '2026-01-01 00:00:00Z'],
  ['30 February', '2026-02-30T00:00:00Z'],
  ['month 13', '2026-13-01T00:00:00Z'],
  ['hour 24', '2026-01-01T24:00:00Z'],
  ['second 60', '2026-01-01T00:00:60Z'],
  ['a zone beyond a day', '2026-01-01T00:00:00+25:00'],
  ['something behind it', '2026-01-01T00:00:00Zz'],
])('text that is not a time: %s', (_rule, text) => {
  expect(parseTime(text)).toBeUndefined();
});
