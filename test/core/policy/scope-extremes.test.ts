import { expect, test } from 'vitest';
import { COMPARISONS, type Amount, type Condition } from '../../../src/core/policy/condition.js';
import { evaluateCondition } from '../../../src/core/policy/evaluate-condition.js';
import { conditionNeeds } from '../../../src/core/policy/condition-needs.js';
import { historyIn, NO_PASSES, rememberPass } from '../../../src/core/policy/scope-history.js';
import type { ScopeReading } from '../../../src/core/policy/scope-reading.js';
import { mayHold } from '../../../src/core/policy/scope-extremes.js';
import { fc } from '../../support/property.js';
import { conditionOf } from '../condition/conditions.js';
import { passesOf, reading, type Series } from './scopes.js';

const KIB = 1024;

test.each<[condition: string, may: boolean]>([
  ['memory.current > 29Ki', true],
  ['memory.current > 30Ki', false],
  ['memory.current >= 30Ki', true],
  ['memory.current < 11Ki', true],
  ['memory.current < 10Ki', false],
  ['memory.current <= 10Ki', true],
  ['memory.current > 70% of memory.max', true],
  ['memory.current > 80% of memory.max', false],
  ['memory.current < 20% of memory.max', false],
  ['memory.current > 29Ki & memory.current > 80% of memory.max', false],
  ['memory.pressure.full.avg10 > 40%', true],
  ['memory.pressure.full.avg10 > 60%', false],
  ['memory.swap > 0', false],
  ['memory.current > 30Ki | processes > 4', true],
  ['memory.current > 30Ki | processes > 5', false],
  ['memory.current > 20Ki & processes > 5', false],
  ['!(memory.current > 30Ki)', true],
  ['memory.current > 30Ki | memory.available < 5%', true],
  ['!(memory.current < 5Ki)', true],
  ['!(memory.current > 5Ki)', false],
  ['!(memory.current > 30Ki & processes > 4)', true],
  ['!(memory.current > 5Ki | processes > 0)', false],
])('among usages of 10 KiB, 30 KiB and an unknown one: %s', (condition, may) => {
  const readings = [
    reading(0, { 'memory.current': 10 * KIB, 'memory.max': 40 * KIB, processes: 1 }),
    reading(0, { 'memory.current': 30 * KIB, 'memory.max': 40 * KIB }),
    reading(0, { processes: 5, 'memory.pressure.full.avg10': 50 }),
  ];
  expect(mayHold(conditionOf(condition, 'cgroup'), readings)).toBe(may);
});

test('63 is more than 90 × 0.7 = 62.99…, though 63 / 90 is not more than 0.7', () => {
  const condition = conditionOf('memory.current > 70% of memory.max', 'cgroup');
  expect(mayHold(condition, [reading(0, { 'memory.current': 63, 'memory.max': 90 })])).toBe(true);
});

test('a condition that is true for one cgroup of the scope may hold for the scope, whatever the numbers', () => {
  const number = fc.constantFrom(0, 1, 3, 7, 10, 21, 70, 100, 2 ** 40, 2 ** 40 + 1);
  const values = fc.record({ 'memory.current': number, 'memory.max': number, processes: number }, { requiredKeys: [] });
  const max = { name: 'memory.max', of: 'cgroup' } as const;
  const amount = fc.oneof(
    number.map((value): Amount => ({ kind: 'quantity', value, text: '' })),
    fc.constantFrom(0, 0.1, 0.3, 0.7, 1, 3).map((ratio): Amount => ({ kind: 'share', ratio, of: max, text: '' })),
  );
  const one = fc
    .tuple(fc.constantFrom('memory.current', 'memory.max', 'processes'), fc.constantFrom(...COMPARISONS), amount)
    .map(([name, comparison, to]): Condition => ({ kind: 'comparison', metric: { name, of: 'cgroup' }, comparison, amount: to }));
  const any = fc.oneof(
    one,
    fc.tuple(fc.constantFrom('and', 'or'), one, one).map(([kind, ...conditions]): Condition => ({ kind, conditions })),
  );
  fc.assert(
    fc.property(any, fc.array(values, { minLength: 1, maxLength: 4 }), (condition, all) => {
      const readings = all.map((each) => reading(0, each));
      const isTrue = readings.some((each) => evaluateCondition(condition, { cgroup: { readings: [each] } }) === true);
      expect(!isTrue || mayHold(condition, readings)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

const scan = (...counts: readonly number[]): Series =>
  Object.fromEntries(counts.map((count, index) => [index * 10, { pgscan: count, 'memory.current': count * KIB }]));

/** Keeps readings from before the other window. */
const LONGER = ' | memory.growth > 99Ki over 30s';

const stalled = (...seconds: readonly number[]): Series =>
  Object.fromEntries(seconds.map((of, index) => [index * 10, { 'memory.pressure.full.total': of * 1e6 }]));

test.each<[rule: string, condition: string, cgroups: readonly Series[], may: boolean]>([
  ['the largest change of all', 'pgscan > 30/s over 10s', [scan(0, 10), scan(500, 900)], true],
  ['which is not enough', 'pgscan > 50/s over 10s', [scan(0, 10), scan(500, 900)], false],
  ['a number of times', 'pgscan > 399 over 10s', [scan(500, 900)], true],
  ['is not reached', 'pgscan > 400 over 10s', [scan(500, 900)], false],
  ['the window reaches back further', 'pgscan > 400 over 20s', [scan(0, 500, 900)], true],
  ['nothing is known yet', 'pgscan > 0 over 10s', [scan(900)], false],
  ['a counter that began anew', 'pgscan > 0 over 10s', [scan(900, 5)], false],
  [
    'an older reading is known',
    'pgscan > 0 over 10s & pgscan > 0 over 20s',
    [{ 0: { pgscan: 1 }, 20: { pgscan: 900 } }, scan(0, 0, 0)],
    true,
  ],
  ['a small number', 'pgscan < 5 over 10s', [scan(0, 400)], true],
  ['what grows', 'memory.growth > 5Ki over 10s', [scan(1, 7)], true],
  ['what shrinks', 'memory.growth > 0 over 10s', [scan(7, 1)], false],
  ['what shrinks, with older readings', `memory.growth > 0 over 20s${LONGER}`, [scan(9, 8, 7, 1)], false],
  ['a share of what shrinks, with older readings', `memory.growth > 1% over 20s${LONGER}`, [scan(9, 8, 7, 1)], false],
  ['a rate of what shrinks, with older readings', `memory.growth > 1Ki/s over 20s${LONGER}`, [scan(9, 8, 7, 1)], false],
  ['what grows beside what shrinks', `memory.growth > 3Ki over 20s${LONGER}`, [scan(9, 8, 7, 1), scan(0, 0, 0, 4)], true],
  ['what grows too little beside it', `memory.growth > 4Ki over 20s${LONGER}`, [scan(9, 8, 7, 1), scan(0, 0, 0, 4)], false],
  ['what has shrunk before it grows', `memory.growth > 1Ki over 11s${LONGER}`, [scan(9, 9, 1, 3)], true],
  ['what has grown by its half', 'memory.growth > 49% over 10s', [scan(10, 15)], true],
  ['not by more', 'memory.growth > 51% over 10s', [scan(10, 15)], false],
  ['a stall', 'memory.pressure.full > 30% over 10s', [stalled(0, 3.001)], true],
  ['a shorter stall', 'memory.pressure.full > 30% over 10s', [stalled(0, 3)], false],
  ['a rate that rises', 'pgscan rising over 20s', [scan(0, 1, 9)], true],
  ['a counter that rests', 'pgscan rising over 20s | pgscan falling over 20s', [scan(9, 9, 9)], false],
])('in windows: %s: %s', (_rule, text, cgroups, may) => {
  const condition = conditionOf(text, 'cgroup');
  const { longestWindowNs } = conditionNeeds([condition]);
  const passes = passesOf(Object.fromEntries(cgroups.map((series, index) => [`/${String(index)}`, series])), longestWindowNs);
  expect(mayHold(condition, [...(passes.at(-1)?.readings.values() ?? [])], passes)).toBe(may);
});

test('a condition over a window that is true for one cgroup of the scope may hold for the scope, whatever was read', () => {
  const test = fc.constantFrom(
    ...['pgscan > 3 over 5s', 'pgscan > 1/s over 7s', 'pgscan <= 2 over 5s', 'pgscan rising over 6s', 'pgscan falling over 6s'],
    ...['memory.growth > 2Ki over 5s', 'memory.growth > 50% over 9s', 'memory.growth >= 0 over 5s', 'memory.growth <= 0 over 5s'],
    ...[
      'memory.pressure.full > 30% over 5s',
      'memory.current rising over 6s',
      'memory.current > 5Ki',
      'memory.pressure.full rising over 4s',
    ],
  );
  const text = fc.oneof(
    test,
    test.map((one) => `!(${one})`),
    fc.tuple(test, fc.constantFrom('&', '|'), test).map((parts) => `!(${parts.join(' ')})`),
  );
  const longer = conditionOf('pgscan > 0 over 20s', 'cgroup');
  const count = fc.integer({ min: 0, max: 9 });
  const values = fc.record(
    {
      pgscan: count,
      'memory.current': count.map((kib) => kib * KIB),
      'memory.pressure.full.total': count.map((seconds) => seconds * 500_000),
    },
    { requiredKeys: [] },
  );
  const cgroup = fc.record({ path: fc.constantFrom('/a', '/b', '/c'), id: fc.constantFrom(1n, 1n, 1n, 2n), values });
  const pass = fc.record({
    seconds: fc.integer({ min: 1, max: 6 }),
    cgroups: fc.uniqueArray(cgroup, { selector: ({ path }) => path, minLength: 1 }),
  });
  fc.assert(
    fc.property(text, fc.constantFrom([], [longer]), fc.array(pass, { minLength: 1, maxLength: 9 }), (of, others, all) => {
      const condition = conditionOf(of, 'cgroup');
      const { longestWindowNs } = conditionNeeds([condition, ...others]);
      let [atS, passes, readings] = [0, NO_PASSES, new Array<ScopeReading>()];
      for (const { seconds, cgroups } of all) {
        atS += seconds;
        readings = cgroups.map(({ path, id, values: read }) => ({ ...reading(atS, read), path, id }));
        passes = rememberPass(passes, [readings], longestWindowNs);
      }
      const isTrue = readings.some((each) => evaluateCondition(condition, { cgroup: historyIn(passes, each) }) === true);
      expect(!isTrue || mayHold(condition, readings, passes)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
