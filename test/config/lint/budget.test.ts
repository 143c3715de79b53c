import { expect, test } from 'vitest';
import { budgetRule } from '../../../src/config/lint/budget.js';
import { SECOND, without } from '../../core/support.js';
import { subject } from './support.js';

type Bands = readonly { readonly minPriority: number; readonly max: number }[];

const found = (max: number, bands: Bands, rest: object = {}): string[] =>
  budgetRule
    .find(subject([], { evictionBudget: { max, windowNs: 600n * SECOND, bands }, ...rest }), undefined)
    .map(({ code, key }) => `${code} ${key}`);

test.each<[rule: string, max: number, bands: Bands, expected: string[]]>([
  ['the default', 5, [], []],
  ['a budget permits no eviction at all', 0, [{ minPriority: 0, max: 0 }], ['EVICTD_LINT_BUDGET_NONE evictionBudget.max']],
  ['a band below the whole', 5, [{ minPriority: 0, max: 4 }], []],
  ['a band of the whole', 5, [{ minPriority: 0, max: 5 }], ['EVICTD_LINT_BUDGET_BAND evictionBudget.bands[0]']],
  [
    'a band lies within a wider band of the same number, in any order',
    5,
    [
      { minPriority: 100, max: 2 },
      { minPriority: 0, max: 2 },
    ],
    ['EVICTD_LINT_BUDGET_BAND evictionBudget.bands[0]'],
  ],
  [
    'a band can never be used up above a priority',
    5,
    [
      { minPriority: 100, max: 0 },
      { minPriority: 0, max: 2 },
    ],
    [],
  ],
])('%s', (_rule, max, bands, expected) => {
  expect(found(max, bands)).toEqual(expected);
});

test('a budget without its departure has no effect', () => {
  const departures = without('budget');
  expect(found(0, [], { departures })).toEqual([]);
  expect(found(0, [], { departures, written: new Map([['evictionBudget.max', 0]]) })).toEqual(['EVICTD_LINT_BUDGET_OFF evictionBudget']);
});
