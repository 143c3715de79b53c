import { expect, test } from 'vitest';
import { COMPARISONS, type Amount, type Condition } from '../../../src/core/policy/condition.js';
import { evaluateCondition } from '../../../src/core/policy/evaluate-condition.js';
import { mayHold } from '../../../src/core/policy/scope-extremes.js';
import { fc } from '../../support/property.js';
import { conditionOf } from '../condition/conditions.js';
import { reading } from './scopes.js';

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
  ['pgscan > 100000 over 10s', true],
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
