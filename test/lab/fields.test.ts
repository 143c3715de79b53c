import { expect, test } from 'vitest';
import { fieldsOf, lineOf, numberOf } from './fields.js';

test.each<[what: string, line: string, fields: Record<string, string>]>([
  ['name=value', 'who=evictd rate=50', { who: 'evictd', rate: '50' }],
  ['spaces around and between', '  a=1 \t b=2\n', { a: '1', b: '2' }],
  ['a value with =', 'all=a=b', { all: 'a=b' }],
  ['a field without a value is ignored', 'crossing_ms=- lost=-', {}],
  ['a negative value is read', 'signal_ms=-4.5', { signal_ms: '-4.5' }],
  ['other words are left out', 'round 3 =x a=1', { a: '1' }],
  ['an empty line', '', {}],
])('%s', (_what, line, fields) => {
  expect(fieldsOf(line)).toEqual(fields);
});

test('a missing or empty value is written as -, and is read as missing', () => {
  const line = lineOf({ who: 'evictd', by: undefined, all: '', signals: 0 });
  expect(line).toBe('who=evictd by=- all=- signals=0');
  expect(fieldsOf(line)).toEqual({ who: 'evictd', signals: '0' });
});

test('a number is read, and a word is refused where a number is expected', () => {
  const fields = fieldsOf('signal_ms=12.5 gone_ms=- by=evictd');
  expect([numberOf(fields, 'signal_ms'), numberOf(fields, 'gone_ms'), numberOf(fields, 'other')]).toEqual([12.5, undefined, undefined]);
  expect(() => numberOf(fields, 'by')).toThrow('by=evictd is no number');
});
