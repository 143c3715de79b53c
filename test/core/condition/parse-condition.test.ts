import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../../src/core/condition/parse-condition.js';
import type { Condition, ScopeKind } from '../../../src/core/policy/condition.js';
import { METRIC_NAMES } from '../../../src/core/policy/metric.js';
import { conditionOf, problemsOf, SECOND_NS } from './conditions.js';

const exists = (name: 'memory.max' | 'memory.high' | 'memory.low'): Condition => ({ kind: 'exists', metric: { name, of: 'cgroup' } });
const [max, high, low] = [exists('memory.max'), exists('memory.high'), exists('memory.low')];
const [MAX, HIGH, LOW] = ['memory.max exists', 'memory.high exists', 'memory.low exists'];

describe('operators', () => {
  test.each<[rule: string, text: string, condition: Condition]>([
    ['a test alone', MAX, max],
    ['& binds closer than |', `${MAX} | ${HIGH} & ${LOW}`, { kind: 'or', conditions: [max, { kind: 'and', conditions: [high, low] }] }],
    [
      '& binds closer than | on its other side',
      `${MAX} & ${HIGH} | ${LOW}`,
      { kind: 'or', conditions: [{ kind: 'and', conditions: [max, high] }, low] },
    ],
    ['! binds closer than &', `!${MAX} & ${HIGH}`, { kind: 'and', conditions: [{ kind: 'not', condition: max }, high] }],
    ['parentheses bind closest', `!(${MAX} & ${HIGH})`, { kind: 'not', condition: { kind: 'and', conditions: [max, high] } }],
    ['parentheses before &', `(${MAX} | ${HIGH}) & ${LOW}`, { kind: 'and', conditions: [{ kind: 'or', conditions: [max, high] }, low] }],
    ['needless parentheses vanish', `((${MAX}) & (${HIGH} & ${LOW}))`, { kind: 'and', conditions: [max, high, low] }],
    ['! twice', `!!${MAX}`, { kind: 'not', condition: { kind: 'not', condition: max } }],
    [
      'white space and lines do not count',
      `\n !(\t${MAX}\n|${HIGH} )\n`,
      { kind: 'not', condition: { kind: 'or', conditions: [max, high] } },
    ],
  ])('%s', (_rule, text, condition) => {
    expect(conditionOf(text, 'cgroup')).toEqual(condition);
  });
});

describe('tests of a metric', () => {
  const cgroup = (name: string) => ({ metric: { name, of: 'cgroup' } });
  const node = (name: string) => ({ metric: { name, of: 'node' } });
  const limit = { name: 'memory.max', of: 'cgroup' };

  test.each<[text: string, scope: ScopeKind, test: object]>([
    [
      'memory.current > 1.5Gi',
      'cgroup',
      { ...cgroup('memory.current'), comparison: '>', amount: { kind: 'quantity', value: 1.5 * 2 ** 30, text: '1.5Gi' } },
    ],
    ['memory.swap>0', 'cgroup', { ...cgroup('memory.swap'), amount: { kind: 'quantity', value: 0, text: '0' } }],
    ['memory.current >= 90% of memory.max', 'cgroup', { comparison: '>=', amount: { kind: 'share', ratio: 0.9, of: limit, text: '90%' } }],
    ['memory.current > 90% of limit', 'cgroup', { amount: { kind: 'share', ratio: 0.9, of: limit, text: '90%' } }],
    [
      'memory.current > 120% of request',
      'cgroup',
      { amount: { kind: 'share', ratio: 1.2, of: { name: 'memory.request', of: 'cgroup' }, text: '120%' } },
    ],
    ['memory.current > 120% of memory.max', 'cgroup', { amount: { kind: 'share', ratio: 1.2, of: limit, text: '120%' } }],
    [
      'memory.swap > 110% of memory.swap.max',
      'cgroup',
      { amount: { kind: 'share', ratio: 1.1, of: { name: 'memory.swap.max', of: 'cgroup' }, text: '110%' } },
    ],
    [
      'memory.current > 50% of memory.total',
      'cgroup',
      { amount: { kind: 'share', ratio: 0.5, of: { name: 'memory.total', of: 'node' }, text: '50%' } },
    ],
    ['memory.available < 15%', 'node', { ...node('memory.available'), amount: { kind: 'share', ratio: 0.15, text: '15%' } }],
    ['memory.available < 15%', 'cgroup', node('memory.available')],
    ['memory.anon > 1Gi', 'node', node('memory.anon')],
    ['node.memory.anon > 1Gi', 'node', node('memory.anon')],
    ['node.memory.anon > 1Gi', 'cgroup', node('memory.anon')],
    ['memory.anon > 1Gi', 'cgroup', cgroup('memory.anon')],
    [
      'memory.growth > 20Mi/s over 30s',
      'cgroup',
      { amount: { kind: 'rate', perSecond: 20 * 2 ** 20, text: '20Mi/s' }, windowNs: 30n * SECOND_NS },
    ],
    ['memory.growth > 10% over 1m', 'cgroup', { amount: { kind: 'share', ratio: 0.1, text: '10%' }, windowNs: 60n * SECOND_NS }],
    ['memory.growth > 200Mi over 1m', 'cgroup', { amount: { kind: 'quantity', value: 200 * 2 ** 20, text: '200Mi' } }],
    ['pgscan > 1k/s over 10s', 'cgroup', { amount: { kind: 'rate', perSecond: 1000, text: '1k/s' } }],
    ['memory.events.high > 10 over 1m', 'cgroup', { amount: { kind: 'quantity', value: 10, text: '10' } }],
    ['io.bytes > 50Mi/s over 10s', 'cgroup', { amount: { kind: 'rate', perSecond: 50 * 2 ** 20, text: '50Mi/s' } }],
    ['memory.pressure.full > 40%', 'cgroup', { ...cgroup('memory.pressure.full'), windowNs: 2n * SECOND_NS }],
    ['memory.pressure.full > 40% over 30s', 'cgroup', { windowNs: 30n * SECOND_NS }],
    [
      'memory.pressure.some.avg60 > 12.5%',
      'node',
      { ...node('memory.pressure.some.avg60'), amount: { kind: 'share', ratio: 0.125, text: '12.5%' } },
    ],
    ['processes > 500', 'cgroup', { amount: { kind: 'quantity', value: 500, text: '500' } }],
    ['age > 1h30m', 'cgroup', { amount: { kind: 'quantity', value: 5400, text: '1h30m' } }],
    ['memory.pressure.full falling', 'node', { kind: 'trend', direction: 'falling', windowNs: 10n * SECOND_NS }],
    ['memory.current rising over 30s', 'cgroup', { kind: 'trend', direction: 'rising', windowNs: 30n * SECOND_NS }],
    ['swap.available exists', 'cgroup', { kind: 'exists', ...node('swap.available') }],
    [
      'cgroup(/a.slice/).memory.anon > 1Gi',
      'node',
      { metric: { name: 'memory.anon', of: 'cgroup', path: '/a.slice' }, amount: { kind: 'quantity' } },
    ],
    [
      'memory.current > 50% of cgroup(/a/x y=1!).memory.max',
      'cgroup',
      { ...cgroup('memory.current'), amount: { of: { name: 'memory.max', of: 'cgroup', path: '/a/x y=1!' } } },
    ],
    ['cgroup(/a/b) exists', 'node', { kind: 'exists', metric: { name: 'age', of: 'cgroup', path: '/a/b' } }],
  ])('%s (%s)', (text, scope, expected) => {
    expect(conditionOf(text, scope)).toMatchObject(expected);
  });

  test('a level has no window', () => {
    expect(conditionOf('memory.current > 1Gi', 'cgroup')).not.toHaveProperty('windowNs');
  });
});

describe('a problem has its position, and says what to write instead', () => {
  const deep = `${'('.repeat(17)}x`;
  test.each<[text: string, scope: ScopeKind, fault: string, offset: number, message: string, hint: string]>([
    ['', 'node', 'CONDITION', 0, 'is empty', 'memory.available < 10%'],
    ['   ', 'node', 'CONDITION', 0, 'is empty', ''],
    [
      'memory.available',
      'node',
      'CONDITION',
      16,
      'expected <, <=, >, >=, exists, rising or falling after memory.available: it ends here',
      'compare it with 100Mi, or 10%',
    ],
    ['memory.available < ', 'node', 'AMOUNT', 18, 'memory.available < has no amount', '100Mi, or 10%'],
    ['memory.available < 10% &', 'node', 'CONDITION', 24, 'expected a metric: it ends here', ''],
    ['not memory.available < 10%', 'node', 'CONDITION', 0, 'expected a metric: got "not"', 'write !'],
    ['memory.available < 10% && age > 1m', 'node', 'CONDITION', 23, 'expected & or |: got "&&"', 'write &'],
    ['memory.available < 10% and age > 1m', 'node', 'CONDITION', 23, 'expected & or |: got "and"', 'write &'],
    ['memory.available == 10%', 'node', 'CONDITION', 17, 'got "=="', '>= or <='],
    ['age=1h', 'cgroup', 'CONDITION', 3, 'got "="', '>= or <='],
    ['memory.available & age > 1m', 'cgroup', 'CONDITION', 17, 'expected <, <=', 'compare it with 100Mi, or 10%'],
    ['memory.available < 10% xor age > 1m', 'cgroup', 'CONDITION', 23, 'expected & or |: got "xor"', 'write (A & !B) | (!A & B)'],
    ['memory.available < 10% AND age > 1m', 'cgroup', 'CONDITION', 23, 'expected & or |: got "AND"', 'write &'],
    ['memory.available < 10%, age > 1m', 'cgroup', 'CONDITION', 22, 'expected & or |: got ","', 'write & or |'],
    ['memory.available < 10% for 10s', 'node', 'CONDITION', 23, 'expected & or |: got "for"', 'write the key for: 10s'],
    ['memory.available falling 10s', 'node', 'CONDITION', 25, 'expected & or |: got "10s"', 'write over 10s'],
    ['xor memory.available < 10%', 'node', 'CONDITION', 0, 'expected a metric: got "xor"', 'write (A & !B) | (!A & B)'],
    ['(memory.available < 10%', 'node', 'CONDITION', 0, '"(" without ")"', ''],
    ['memory.available < 10%)', 'node', 'CONDITION', 22, '")" without "("', 'remove it'],
    [deep, 'node', 'CONDITION', 16, 'nested deeper than 16 levels', ''],
    ['cgroup(/a) > 1', 'node', 'CONDITION', 11, 'cgroup(/a) is not a metric', 'write cgroup(/a).memory.current, or exists'],
    ['age > 1m & cgroup(a).age > 1m', 'cgroup', 'METRIC', 18, 'not the path of one cgroup: a', 'cgroup(/workload.slice)'],
    ['cgroup(/a/*).age > 1m', 'node', 'METRIC', 7, 'not the path of one cgroup: /a/*', 'without * and ?'],
    ['cgroup(/).age > 1m', 'node', 'METRIC', 7, '/ is the root cgroup', 'node.memory.anon'],
    ['cgroup(/../a) exists', 'node', 'METRIC', 7, 'not a path below the cgroup root: /../a', ''],
    ['cgroup(/a).memory.avail < 10%', 'node', 'METRIC', 11, '"memory.avail" is not a metric', ''],
    ['cgroup(/a).memory.available < 10%', 'node', 'METRIC', 11, 'memory.available is a metric of the node', 'write memory.available'],
    ['cgroup(/a)memory.anon > 1Mi', 'node', 'METRIC', 10, 'no metric of cgroup(/a)', '.memory.current'],
    ['memory.avail < 10%', 'node', 'METRIC', 0, '"memory.avail" is not a metric', ''],
    ['memory.max exists', 'node', 'METRIC', 0, 'memory.max is a metric of cgroups', 'scope: {cgroup: PATTERN}'],
    ['node.memory.max exists', 'cgroup', 'METRIC', 0, 'memory.max is a metric of cgroups', 'write memory.max'],
    ['memory.current > 90% of limit', 'node', 'METRIC', 24, 'memory.max is a metric of cgroups', ''],
    ['memory.available < 100', 'node', 'AMOUNT', 19, 'bytes need a unit: 100', '100Mi'],
    ['memory.available < 100MB', 'node', 'AMOUNT', 19, 'not an amount: 100MB', 'did you mean 100M or 100Mi?'],
    ['memory.available < 10 %', 'node', 'AMOUNT', 22, 'a space between 10 and %', 'write 10%'],
    ['memory.available < 1 GiB', 'node', 'AMOUNT', 21, 'a space between 1 and GiB', 'did you mean 1Gi?'],
    ['memory.growth > 20 MB/s over 1m', 'cgroup', 'AMOUNT', 19, 'a space between 20 and MB/s', 'did you mean 20M or 20Mi?'],
    ['memory.growth > 1Gi over 10 s', 'cgroup', 'AMOUNT', 28, 'a space between 10 and s', 'write 10s'],
    ['memory.available < -1Mi', 'node', 'AMOUNT', 19, 'must not be negative', ''],
    ['memory.available < 10Mi/s', 'node', 'AMOUNT', 19, 'memory.available is not compared with an amount per second', '100Mi, or 10%'],
    ['memory.available < 16Pi', 'node', 'AMOUNT', 19, 'too large: 16Pi', 'write less than 8Pi'],
    ['memory.current > 8Pi', 'cgroup', 'AMOUNT', 17, 'too large: 8Pi', 'write less than 8Pi'],
    ['memory.current > 90%', 'cgroup', 'AMOUNT', 17, '90% of what? memory.current has no total', '90% of memory.max'],
    ['memory.current > 1Gi of limit', 'cgroup', 'AMOUNT', 24, 'only a percentage is of another metric', ''],
    ['memory.current > 9% of', 'cgroup', 'METRIC', 22, '"of" without a metric', ''],
    ['memory.current > 9% of age', 'cgroup', 'AMOUNT', 23, 'age cannot be compared with memory.current', ''],
    ['memory.current > 9% of memory.growth', 'cgroup', 'AMOUNT', 23, 'memory.growth cannot be compared', ''],
    ['memory.pressure.full > 9% of limit', 'cgroup', 'AMOUNT', 29, 'a percentage of memory.pressure.full is not of another metric', '40%'],
    ['memory.growth > 5% of limit over 1m', 'cgroup', 'AMOUNT', 22, 'a percentage of memory.growth is not of another metric', ''],
    ['memory.growth > 20Mi/m over 1m', 'cgroup', 'AMOUNT', 16, 'rates are per second: 20Mi/m', 'write 20Mi/s'],
    [
      'memory.growth > 20Mi/s',
      'cgroup',
      'CONDITION',
      22,
      'memory.growth needs the time that it is measured over',
      'memory.growth > 20Mi/s over 30s',
    ],
    ['pgscan > 100', 'cgroup', 'CONDITION', 12, 'pgscan needs the time', ''],
    ['pgscan > 10% over 1m', 'cgroup', 'AMOUNT', 9, 'pgscan is not compared with a percentage', '1000/s'],
    ['memory.current > 1Gi over 10s', 'cgroup', 'CONDITION', 21, 'memory.current is a value at an instant', 'the key for'],
    ['memory.growth > 1Gi over', 'cgroup', 'CONDITION', 24, 'not a duration: nothing', '10s'],
    ['memory.growth > 1Gi over 10', 'cgroup', 'CONDITION', 25, 'not a duration: 10', '10s'],
    ['memory.growth > 1Gi over 999ms', 'cgroup', 'CONDITION', 25, 'out of range: 999ms', 'from 1s to 1h0m0s'],
    ['memory.growth > 1Gi over 2h', 'cgroup', 'CONDITION', 25, 'out of range: 2h', ''],
    ['age > 10', 'cgroup', 'AMOUNT', 6, 'not a duration: 10', '10s'],
    ['age > 10%', 'cgroup', 'AMOUNT', 6, '10% of what? age has no total', '10m'],
    ['age > 10s/s', 'cgroup', 'AMOUNT', 6, 'not an amount of age', '10m'],
    ['memory.pressure.full > 1Mi', 'node', 'AMOUNT', 23, 'not an amount of memory.pressure.full', '40%'],
    ['memory.pressure.full > 100%', 'node', 'AMOUNT', 23, 'memory.pressure.full > 100% never holds', ''],
    ['memory.pressure.full >= 0%', 'node', 'AMOUNT', 24, 'always holds', ''],
    ['memory.current > 90% of memory.current', 'cgroup', 'AMOUNT', 24, 'memory.current is compared with itself', 'memory.max'],
    ['swap.available < 90% of swap.available', 'node', 'AMOUNT', 24, 'is compared with itself', ''],
    ['memory.file > 120% of memory.current', 'cgroup', 'AMOUNT', 14, 'memory.file > 120% of memory.current never holds', ''],
    ['memory.anon < 200% of memory.current', 'cgroup', 'AMOUNT', 14, 'always holds', ''],
    ['memory.shmem >= 101% of memory.current', 'cgroup', 'AMOUNT', 16, 'never holds', ''],
    ['memory.available > 101%', 'node', 'AMOUNT', 19, 'never holds', ''],
    ['memory.available < 0', 'node', 'AMOUNT', 19, 'never holds', ''],
  ])('%s (%s)', (text, scope, fault, offset, message, hint) => {
    const [problem] = problemsOf(text, scope);
    expect(problem).toMatchObject({ fault, offset });
    expect(problem?.message).toContain(message);
    expect(problem?.hint).toContain(hint);
  });

  test('a threshold for growth is at least 0', () => {
    expect(conditionOf('memory.growth < 0 over 1m', 'cgroup')).toMatchObject({ comparison: '<' });
  });

  test('all tests are checked, and a broken test is skipped with its parentheses', () => {
    const text = 'memory.foo (age > 1h & age) & memory.bar > 1Mi | (memory.available < 10 & age > 5m)';
    expect(problemsOf(text, 'cgroup').map(({ offset }) => offset)).toEqual([0, 30, 69]);
  });

  test('the parser goes on after a word of another language', () => {
    const text = 'memory.foo > 1Mi and not memory.max exists || age > 5 & (age > 5 or age > 1m)';
    expect(problemsOf(text, 'cgroup').map(({ offset }) => offset)).toEqual([0, 17, 21, 43, 52, 63, 65]);
  });

  test('a condition with more than 32 tests is refused', () => {
    const tests = (count: number): string => Array.from({ length: count }, () => 'age > 1m').join(' & ');
    expect(parseCondition(tests(32), { scope: 'cgroup', pressureWindowNs: SECOND_NS })).toHaveProperty('condition');
    expect(problemsOf(tests(33), 'cgroup').map(({ message }) => message)).toEqual(['more than 32 tests']);
  });

  test('no name of a metric contains a character or a word of the grammar', () => {
    expect(METRIC_NAMES.filter((name) => /[^a-z_.A-Z0-9]/.test(name) || name.startsWith('node.'))).toEqual([]);
  });
});
