import { afterEach, beforeEach, expect, test } from 'vitest';
import { momentOf, momentText } from '../../../src/cli/output/moment.js';
import { UsageError } from '../../../src/errors.js';

const before = process.env.TZ;
beforeEach(() => {
  process.env.TZ = 'Europe/Berlin'; // UTC+1, in summer +2: 2026-03-29 has 23 hours, 2026-10-25 has 25
});
afterEach(() => {
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
});

const NOW = '2026-11-21T08:30:15.500Z';
const iso = (text: string, now = NOW): string => new Date(momentOf(text, '--since', Date.parse(now))).toISOString();

test.each<[text: string, moment: string]>([
  ['now', NOW],
  ['2h', '2026-11-21T06:30:15.500Z'],
  ['-2h', '2026-11-21T06:30:15.500Z'],
  ['2h ago', '2026-11-21T06:30:15.500Z'],
  ['1d12h', '2026-11-19T20:30:15.500Z'],
  ['1.5m', '2026-11-21T08:28:45.500Z'],
  ['1w', '2026-11-14T08:30:15.500Z'],
  ['0s', NOW],
  ['today', '2026-11-20T23:00:00.000Z'],
  ['yesterday', '2026-11-19T23:00:00.000Z'],
  ['08:30', '2026-11-21T07:30:00.000Z'],
  ['08:30:59', '2026-11-21T07:30:59.000Z'],
  ['2026-11-21', '2026-11-20T23:00:00.000Z'],
  ['2026-07-01', '2026-06-30T22:00:00.000Z'],
  ['2026-11-21 08:30', '2026-11-21T07:30:00.000Z'],
  ['2026-11-21T08:30:01', '2026-11-21T07:30:01.000Z'],
  ['2026-11-21T08:30:01.25Z', '2026-11-21T08:30:01.250Z'],
  ['2026-11-21T08:30Z', '2026-11-21T08:30:00.000Z'],
  ['2026-11-21T08:30+05:30', '2026-11-21T03:00:00.000Z'],
  ['2026-11-21T08:30-0500', '2026-11-21T13:30:00.000Z'],
  ['2028-02-29', '2028-02-28T23:00:00.000Z'],
])("'%s' is parsed as a time", (text, moment) => {
  expect(iso(text)).toBe(moment);
});

test('days of 23 and 25 hours are parsed', () => {
  expect(iso('today', '2026-03-29T21:00:00Z')).toBe('2026-03-28T23:00:00.000Z');
  expect(iso('yesterday', '2026-03-30T05:00:00Z')).toBe('2026-03-28T23:00:00.000Z');
  expect(iso('yesterday', '2026-10-26T05:00:00Z')).toBe('2026-10-24T22:00:00.000Z');
});

test.each([
  '',
  'h',
  '2',
  '2y',
  'tomorrow',
  '24:00',
  '08:60',
  '2026-02-30',
  '2026-13-01',
  '2026-11-21T25:00',
  '2026-11-21T08:30+1',
  '2h 3m',
  'today 08:30',
])("'%s' is refused as a time", (text) => {
  expect(() => iso(text)).toThrow(UsageError);
  expect(() => iso(text)).toThrow(`--since '${text}' is not a time`);
});

test('times are shown with their zone', () => {
  expect(momentText(Date.parse(NOW), false)).toBe('2026-11-21 09:30:15.500+01:00');
  expect(momentText(Date.parse('2026-07-01T23:30:00Z'), false)).toBe('2026-07-02 01:30:00.000+02:00');
  expect(momentText(Date.parse(NOW), true)).toBe('2026-11-21 08:30:15.500Z');
  process.env.TZ = 'America/St_Johns';
  expect(momentText(Date.parse(NOW), false)).toBe('2026-11-21 05:00:15.500-03:30');
});
