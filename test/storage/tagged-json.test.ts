import { fc } from '../support/property.js';
import { expect, test } from 'vitest';
import { fromJson, toJson } from '../../src/storage/tagged-json.js';

const roundTrip = (value: unknown): unknown => fromJson(JSON.parse(JSON.stringify(toJson(value))));

test.each<[rule: string, value: unknown]>([
  ['an integer beyond 2^53', 2n ** 70n + 1n],
  ['a negative integer', -1n],
  ['a map with keys that are not texts', new Map([[1, { a: 2n }]])],
  ['a map in a set in a list', [new Set([new Map([['k', 1n]])])]],
  ['an object that looks like an integer', { bigint: 'no' }],
  ['an object that looks like a map', { map: [] }],
  ['an object that looks like an escaped one', { object: { set: 1 } }],
  ['two keys, one of which is a tag', { bigint: 1, other: 2 }],
  ['a key that assigned would be the prototype', Object.fromEntries([['__proto__', { a: 1n }]])],
  ['null and false', [null, false, '', 0]],
])('%s is read as it was written', (_rule, value) => {
  expect(roundTrip(value)).toEqual(value);
});

test('undefined values are left out', () => {
  expect(roundTrip({ a: undefined, b: 1 })).toStrictEqual({ b: 1 });
});

test.each<[rule: string, json: unknown]>([
  ['an integer that is a number', { bigint: 5 }],
  ['an invalid integer', { bigint: 'five' }],
  ['a map that is not a list', { map: 1 }],
  ['a map with invalid pairs', { map: [1] }],
  ['a set that is not a list', { set: {} }],
])('%s is refused', (_rule, json) => {
  expect(() => fromJson(json)).toThrow();
});

test('any value of the core is read as it was written', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.bigInt(),
      fc.string(),
      fc.boolean(),
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('bigint', 'map', 'set', 'object')), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
      fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
      fc.uniqueArray(fc.string(), { maxLength: 3 }).map((items) => new Set(items)),
    ),
  }));
  fc.assert(
    fc.property(value, (each) => {
      expect(roundTrip(each)).toEqual(each);
    }),
  );
});
