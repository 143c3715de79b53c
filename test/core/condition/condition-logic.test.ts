import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { contradiction, sameCondition } from '../../../src/core/condition/condition-logic.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import { truthOf } from '../policy/scopes.js';
import { conditionText } from '../../../src/core/condition/condition-text.js';
import type { Condition } from '../../../src/core/policy/condition.js';
import { conditionOf } from './conditions.js';

const neverHolds = (condition: Condition): boolean => contradiction(condition) !== undefined;

describe('a condition that can never hold', () => {
  test.each<[text: string, never: boolean]>([
    ['age > 1h', false],
    ['age > 1h & age < 1h', true],
    ['age > 1h & age <= 1h', true],
    ['age >= 1h & age <= 1h', false],
    ['age >= 1h & age < 1h', true],
    ['age > 1h & age < 90m', false],
    ['age > 1h & processes < 5', false],
    ['age > 1h | age < 1h & age > 2h', false],
    ['age > 3h & age < 2h | age < 1h & age > 2h', true],
    ['age > 1h & !(age > 30m)', true],
    ['age > 30m & !(age > 1h)', false],
    ['!(age > 1h | age <= 1h)', true],
    ['!(age > 1h & age <= 1h)', false],
    ['!(age < 1h) & age <= 1h', false],
    ['!(age > 1h) & age >= 1h', false],
    ['!(age <= 1h) & age <= 1h', true],
    ['!(age >= 1h) & age >= 1h', true],
    ['memory.current > 90% of limit & memory.current < 80% of limit', true],
    ['memory.current > 90% of limit & memory.current < 80% of request', false],
    ['memory.current > 1Gi & memory.current < 80% of limit', false],
    ['memory.swap > 2Gi & memory.swap.max < 1Gi', false],
    ['memory.current > 2Gi & memory.max < 1Gi', false],
    ['memory.anon > 2Gi & memory.current < 1Gi', true],
    ['memory.growth > 1Mi over 1m & memory.growth < 1Ki over 1m', true],
    ['memory.growth > 1Mi over 1m & memory.growth < 1Ki over 2m', false],
    ['memory.growth > 1Mi/s over 1m & memory.growth < 1Ki over 1m', false],
    ['memory.growth < 0 over 1m', false],
    ['memory.anon > 1Gi & node.memory.anon < 1Mi', false],
    ['cgroup(/a).age > 1h & cgroup(/b).age < 1m', false],
    ['cgroup(/a).age > 1h & cgroup(/a).age < 1m', true],
    ['cgroup(/a).age > 1h & age < 1m', false],
    ['cgroup(/a) exists & !cgroup(/b) exists', false],
    ['cgroup(/a) exists & !cgroup(/a) exists', true],
    ['memory.current > 9% of cgroup(/a).memory.max & memory.current < 5% of cgroup(/b).memory.max', false],
    ['memory.current rising & memory.current falling', true],
    ['memory.current rising & memory.current falling over 1m', false],
    ['memory.current rising & !memory.current rising', true],
    ['!memory.current rising & !memory.current falling', false],
    ['memory.max exists & !memory.max exists', true],
    ['!memory.max exists & memory.max > 1Gi', true],
    ['!memory.max exists & memory.max rising', true],
    ['!memory.max exists & memory.high > 1Gi', false],
    ['memory.max exists & memory.max > 1Gi', false],
    ['memory.current > 90% of memory.max & !memory.max exists', true],
    ['!memory.max exists & memory.current > 90% of memory.max', true],
    ['memory.current > 90% of memory.high & !memory.max exists', false],
    ['memory.pressure.some < 10% & memory.pressure.full > 20%', true],
    ['memory.pressure.full >= 10% & memory.pressure.some < 10%', true],
    ['memory.pressure.full >= 10% & memory.pressure.some <= 10%', false],
    ['memory.pressure.full < 10% & memory.pressure.some > 20%', false],
    ['memory.pressure.some < 10% & memory.pressure.full > 20% over 1m', false],
    ['memory.pressure.some.avg10 < 10% & memory.pressure.full.avg10 > 20%', true],
    ['memory.pressure.some.avg10 < 10% & memory.pressure.full.avg60 > 20%', false],
    ['memory.pressure.some < 10% & io.pressure.full > 20%', false],
    ['memory.pressure.some < 10% & node.memory.pressure.full > 20%', false],
    ['memory.shmem > 2Gi & memory.current < 1Gi', true],
    ['cgroup(/a).memory.shmem > 2Gi & cgroup(/a).memory.current < 1Gi', true],
    ['cgroup(/a).memory.shmem > 2Gi & cgroup(/b).memory.current < 1Gi', false],
    ['memory.current > 2Gi & memory.anon < 1Gi', false],
    ['node.memory.file > 2Gi & node.memory.current < 1Gi', false],
    ['memory.anon > 80% of limit & memory.current < 70% of limit', true],
    ['memory.pressure.full.avg10 > 90% & !(memory.pressure.full.avg10 <= 95%)', false],
  ])('%s: %s', (text, never) => {
    expect(neverHolds(conditionOf(text, 'cgroup'))).toBe(never);
  });

  test.each<[text: string, contradicting: string]>([
    ['age > 1h & processes > 5 & age < 30m & age < 10m', 'age < 30m'],
    ['processes > 5 & (age > 3h & age < 2h | age < 1h & age > 2h)', 'age < 2h'],
    ['processes > 5 & processes exists & !processes exists & age > 3h', 'processes exists'],
  ])('%s: the test that contradicts those before it', (text, contradicting) => {
    const condition = conditionOf(text, 'cgroup');
    const found = contradiction(condition);
    expect(found && conditionText(found, 'cgroup')).toBe(contradicting);
  });

  test('a condition with too many cases is treated as one that can hold', () => {
    const four = '(age > 1h | age > 2h | age > 3h | age > 4h)';
    const never = (fours: number): boolean =>
      neverHolds(conditionOf([...Array.from({ length: fours }, () => four), 'processes > 5', 'processes < 5'].join(' & '), 'cgroup'));
    expect([never(4), never(5)]).toEqual([true, false]);
  });

  const values = fc.constantFrom(0, 1, 2, 3);
  const leaf = fc.oneof(
    fc
      .tuple(fc.constantFrom('processes', 'descendants.dying'), fc.constantFrom('<', '<=', '>', '>='), fc.constantFrom('1', '2'))
      .map((parts) => parts.join(' ')),
    fc.constantFrom('processes exists'),
  );
  const { text: anyText } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { depthSize: 'small' },
      leaf,
      tie('text').map((one) => `!(${one})`),
      fc.tuple(tie('text'), fc.constantFrom(' & ', ' | '), tie('text')).map(([a, is, b]) => `(${a}${is}${b})`),
    ),
  }));

  test('a condition that can never hold is false for any reading', () => {
    let found = 0;
    fc.assert(
      fc.property(anyText, fc.option(values), fc.option(values), (text, processes, dying) => {
        const condition = conditionOf(text, 'cgroup');
        if (!neverHolds(condition)) return;
        found += 1;
        const known: [RawValue, number | null][] = [
          ['processes', processes],
          ['descendants.dying', dying],
        ];
        expect(truthOf(text, { 0: Object.fromEntries(known.filter(([, value]) => value !== null)) })).not.toBe(true);
      }),
      { numRuns: 3_000 },
    );
    expect(found).toBeGreaterThan(50);
  });
});

test.each<[a: string, b: string, same: boolean]>([
  ['age > 1h', 'age > 60m', true],
  ['age > 1h', 'age >= 1h', false],
  ['memory.current > 1Gi', 'memory.current > 1024Mi', true],
  ['memory.growth > 1Mi over 1m', 'memory.growth > 1Mi/s over 1m', false],
  ['memory.growth > 10% over 1m', 'memory.growth > 10.0% over 60s', true],
  ['memory.growth > 10% over 1m', 'memory.growth > 10% over 2m', false],
  ['memory.current > 90% of limit', 'memory.current > 90% of memory.max', true],
  ['memory.current > 90% of limit', 'memory.current > 90% of request', false],
  ['age > 1h & processes > 5', 'processes > 5 & age > 1h', true],
  ['age > 1h & processes > 5', 'age > 1h | processes > 5', false],
  ['memory.anon > 1Mi', 'node.memory.anon > 1Mi', false],
  ['!(age > 1h)', 'age > 1h', false],
  ['!!(age > 1h)', 'age > 1h', true],
  ['age > 1h & age > 60m', 'age > 1h', true],
  ['age > 1h | age > 60m | processes > 5', 'processes > 5 | age > 1h', true],
  ['age > 1h & (age > 1h | processes > 5)', 'age > 1h', true],
  ['age > 1h | age > 1h & processes > 5', 'age > 1h', true],
  ['(age > 1h & processes > 5 | age > 1h & processes > 5) & age > 1h', 'processes > 5 & age > 1h', true],
  ['age > 1h & processes > 5', 'age > 1h', false],
  ['age > 1h & (age > 2h | processes > 5)', 'age > 1h', false],
])('%s and %s are the same: %s', (a, b, same) => {
  expect(sameCondition(conditionOf(a, 'cgroup'), conditionOf(b, 'cgroup'))).toBe(same);
});
