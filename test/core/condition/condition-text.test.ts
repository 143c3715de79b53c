import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { conditionText } from '../../../src/core/condition/condition-text.js';
import { parseCondition } from '../../../src/core/condition/parse-condition.js';
import type { Condition, ScopeKind } from '../../../src/core/policy/condition.js';
import { METRIC_LIST, METRIC_NAMES, type MetricDefinition } from '../../../src/core/policy/metric.js';
import { conditionOf, problemsOf, SECOND_NS } from './conditions.js';

describe('a condition as text', () => {
  test.each<[text: string, scope: ScopeKind, printed: string]>([
    ['memory.current>90% of limit', 'cgroup', 'memory.current > 90% of memory.max'],
    ['memory.pressure.full > 40%', 'node', 'memory.pressure.full > 40% over 2s'],
    ['node.memory.pressure.full falling', 'cgroup', 'node.memory.pressure.full falling over 10s'],
    ['node.memory.pressure.full falling', 'node', 'memory.pressure.full falling over 10s'],
    ['node.memory.available < 10%', 'cgroup', 'memory.available < 10%'],
    ['(age > 1h | processes > 5) & !(memory.max exists)', 'cgroup', '(age > 1h | processes > 5) & !memory.max exists'],
    [
      'cgroup(/a/b/) exists & cgroup(/a).memory.pressure.full > 5%',
      'node',
      'cgroup(/a/b) exists & cgroup(/a).memory.pressure.full > 5% over 2s',
    ],
    ['!(age > 1h & processes > 5)', 'cgroup', '!(age > 1h & processes > 5)'],
    ['age > 1h | (processes > 5 & age > 2h)', 'cgroup', 'age > 1h | processes > 5 & age > 2h'],
  ])('%s (%s)', (text, scope, printed) => {
    expect(conditionText(conditionOf(text, scope), scope)).toBe(printed);
  });
});

const scopes = fc.constantFrom<ScopeKind>('node', 'cgroup');
const unitless = fc.oneof(fc.nat(1000).map(String), fc.constantFrom('1.5k', '3M'));
const bytes = fc.oneof(
  fc.integer({ min: 1, max: 9999 }).map((n) => `${String(n)}Mi`),
  fc.constantFrom('1.5Gi', '0.5k', '7Pi', '5E'),
);
const percentage = fc.integer({ min: 1, max: 99_999_999 }).map((n) => `${String(n / 1_000_000)}%`);
const window = fc.constantFrom(' over 1s', ' over 90s', ' over 1h');
const comparison = fc.constantFrom('<', '<=', '>', '>=');

/** Some are not valid: the parser says so. */
function amountsOf({ unit }: MetricDefinition): fc.Arbitrary<string> {
  const amount = unit === 'bytes' ? bytes : unit === 'seconds' ? fc.constantFrom('10m', '1h30m', '1.5s') : unitless;
  const of = fc.constantFrom(
    '',
    ' of limit',
    ' of request',
    ' of memory.total',
    ' of node.swap.total',
    ' of processes',
    ' of cgroup(/a).memory.max',
  );
  return fc.oneof(
    amount,
    amount.map((one) => `${one}/s`),
    fc.tuple(percentage, of).map(([share, base]) => share + base),
  );
}

const singleTest = fc.constantFrom<MetricDefinition>(...METRIC_LIST).chain((metric) => {
  const name = fc.constantFrom(metric.name, `node.${metric.name}`, `cgroup(/a b/c).${metric.name}`);
  return fc.oneof(
    fc
      .tuple(name, comparison, amountsOf(metric), fc.oneof(fc.constant(''), window))
      .map(([of, is, amount, over]) => `${of} ${is} ${amount}${over}`),
    fc.tuple(name, fc.constantFrom(' exists', ' rising', ' falling over 30s')).map((parts) => parts.join('')),
  );
});

const { text: anyText } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    singleTest,
    tie('text').map((one) => `!(${one})`),
    fc.tuple(tie('text'), fc.constantFrom(' & ', '|'), tie('text')).map((parts) => parts.join('')),
    tie('text').map((one) => `( ${one} )`),
  ),
}));

describe('properties', () => {
  test('a printed condition parses to the same condition', () => {
    let read = 0;
    fc.assert(
      fc.property(anyText, scopes, (text, scope) => {
        const parsed = parseCondition(text, { scope, pressureWindowNs: 2n * SECOND_NS });
        if (!('condition' in parsed)) return;
        read += 1;
        expect(conditionOf(conditionText(parsed.condition, scope), scope)).toEqual(parsed.condition);
      }),
      { numRuns: 3_000 },
    );
    expect(read).toBeGreaterThan(300);
  });

  /** Trees as the parser builds them: nothing directly below its like. */
  const leaf = fc.constantFrom('age > 1h', 'memory.max exists', 'node.cpu.pressure.some > 5%').map((text) => conditionOf(text, 'cgroup'));
  const { tree } = fc.letrec<{ tree: Condition }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      tie('tree').map((condition): Condition => ({ kind: 'not', condition })),
      fc
        .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('tree'), { minLength: 2, maxLength: 3 }))
        .map(([kind, conditions]) => ({
          kind,
          conditions: conditions.flatMap((one) => (one.kind === kind ? one.conditions : [one])),
        })),
    ),
  }));

  test('a tree that is printed and parsed is the same tree', () => {
    fc.assert(
      fc.property(tree, (condition) => {
        const text = conditionText(condition, 'cgroup');
        if (problemsOf(text, 'cgroup').length > 0) return; // too many tests, too deep
        expect(conditionOf(text, 'cgroup')).toEqual(condition);
      }),
      { numRuns: 1_000 },
    );
  });

  const pieces = fc.constantFrom(
    ...METRIC_NAMES,
    'cgroup(/a)',
    'cgroup(/a).age',
    'cgroup(',
    ...'! & | ( ) < <= > >= = && || exists rising falling over of limit request 10s 40% 1Mi 1Mi/s 5 node.'.split(' '),
  );
  test.each([
    ['arbitrary text', fc.string({ unit: 'binary', maxLength: 60 })],
    ['pieces of the language in any order', fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(' '))],
    ['deep nesting', fc.nat(200).map((depth) => `${'!('.repeat(depth)}age > 1h${')'.repeat(depth)}`)],
  ])('%s parses to a condition, or to problems within the text', (_name, texts) => {
    fc.assert(
      fc.property(texts, scopes, (text, scope) => {
        const parsed = parseCondition(text, { scope, pressureWindowNs: SECOND_NS });
        if ('condition' in parsed) return;
        for (const { offset, message } of parsed.problems) {
          expect(message).not.toBe('');
          expect(offset >= 0 && offset <= text.length).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('a long text is parsed in linear time', () => {
    const text = `${'age > 1h & '.repeat(100_000)}age > 1h`;
    expect(problemsOf(text, 'cgroup').map(({ message }) => message)).toEqual(['more than 32 tests']);
  });
});
