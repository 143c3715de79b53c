import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { comparedPaths, comparedValues, inVictimOrder, isInScope } from '../../../src/core/ladder/victim-order.js';
import { COMPARATORS, type Comparator } from '../../../src/core/policy/configured-policy.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import type { ScopeHistory } from '../../../src/core/policy/scope-history.js';
import { rank } from '../../../src/core/rank/rank.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, SECOND, workload } from '../support.js';
import { KILL, NOTIFY, ofCgroup, reading, THROTTLE } from './policies.js';

type Values = Partial<Record<RawValue, number>>;

const MIB = 1024 * 1024;

/** The names in the order of a policy for the scope /a. `last` alone: read once. */
function order(
  by: readonly Comparator[],
  all: Readonly<Record<string, Values | readonly [Values, Values]>>,
  {
    workloads = {},
    recursive = false,
  }: { readonly workloads?: Readonly<Record<string, Partial<Workload>>>; readonly recursive?: boolean } = {},
): string[] {
  const paths = Object.keys(all).filter((path) => !path.endsWith('/'));
  const usages = paths.map((path) => [workload(path, { path, ...workloads[path] }), 100n * Mi] as [Workload, bigint]);
  const readings = Object.entries(all).map(([path, values]): [string, ScopeHistory] => {
    const [first, last] = Array.isArray(values) ? (values as readonly [Values, Values]) : [undefined, values as Values];
    const own = path.replace(/\/$/, '');
    return [own, { readings: [...(first ? [reading(own, 0n, first)] : []), reading(own, 10n * SECOND, last)] }];
  });
  const ranking = rank('memory.available', 'single', candidates(...usages).usages, policy([]).departures);
  return inVictimOrder(ranking, { by, scope: '/a', recursive, readings: new Map(readings) }).map(({ workload: { path } }) => path);
}

describe('comparators of victims', () => {
  test.each<
    [rule: string, by: readonly Comparator[], first: Values | readonly [Values, Values], second: Values | readonly [Values, Values]]
  >([
    ['by size the larger workload is first', ['size'], { 'memory.current': 2 * MIB }, { 'memory.current': MIB }],
    [
      'size: without what the kernel spares, which is not what memory.low asks for',
      ['size'],
      { 'memory.current': 3 * MIB, 'memory.low': 3 * MIB },
      { 'memory.current': 5 * MIB, 'memory.protected': 4 * MIB },
    ],
    ['anon', ['anon'], { 'memory.anon': 2 * MIB }, { 'memory.anon': MIB, 'memory.current': 9 * MIB }],
    [
      'growth: what grows faster, not what is larger',
      ['growth'],
      [{ 'memory.current': MIB }, { 'memory.current': 60 * MIB }],
      [{ 'memory.current': 90 * MIB }, { 'memory.current': 95 * MIB }],
    ],
    ['swap', ['swap'], { 'memory.swap': 2 * MIB }, { 'memory.swap': MIB }],
    ['pgscan: pages a second, not in all', ['pgscan'], [{ pgscan: 0 }, { pgscan: 500 }], [{ pgscan: 9000 }, { pgscan: 9100 }]],
    ['pressure', ['pressure'], { 'memory.pressure.full.avg10': 40 }, { 'memory.pressure.full.avg10': 30 }],
    ['io: cost a second, not in all', ['io'], [{ 'io.cost': 0 }, { 'io.cost': 500 }], [{ 'io.cost': 9000 }, { 'io.cost': 9020 }]],
    ['oom_score', ['oom_score'], { oom_score: 800 }, { oom_score: 700 }],
    ['a workload with an unknown value comes last', ['swap'], { 'memory.swap': 0 }, {}],
    [
      'less than a whole unit apart is equal, and the next comparator decides',
      ['swap', 'size'],
      { 'memory.swap': MIB, 'memory.current': 9 * MIB },
      { 'memory.swap': 1.9 * MIB, 'memory.current': MIB },
    ],
    ['the first comparator decides before the second', ['swap', 'size'], { 'memory.swap': 2 * MIB }, { 'memory.current': 9 * MIB }],
  ])('%s', (_rule, by, first, second) => {
    expect(order(by, { '/a/1': first, '/a/2': second })).toEqual(['/a/1', '/a/2']);
    expect(order(by, { '/a/1': second, '/a/2': first })).toEqual(['/a/2', '/a/1']);
  });

  test('the lower priority is first, and after all comparators the order of evictions decides', () => {
    const workloads = { '/a/1': { priority: 5 }, '/a/2': { priority: -5 } };
    expect(order(['priority'], { '/a/1': {}, '/a/2': {} }, { workloads })).toEqual(['/a/2', '/a/1']);
    expect(order(['swap'], { '/a/1': {}, '/a/2': {} }, { workloads })).toEqual(['/a/2', '/a/1']);
  });

  test('a workload that prefers to be avoided comes last, whatever it uses', () => {
    const all = { '/a/1': { 'memory.current': 9 * MIB }, '/a/2': { 'memory.current': MIB } };
    expect(order(['size'], all, { workloads: { '/a/1': { avoid: true } } })).toEqual(['/a/2', '/a/1']);
  });
});

describe('recursion into cgroups', () => {
  const all = {
    '/a/x/': { 'memory.current': 9 * MIB },
    '/a/x/1': { 'memory.current': 4 * MIB },
    '/a/x/2': { 'memory.current': 5 * MIB },
    '/a/y': { 'memory.current': 8 * MIB },
  };

  test('chooses the largest child, and the largest in it; then the next best', () => {
    expect(order(['size'], all, { recursive: true })).toEqual(['/a/x/2', '/a/x/1', '/a/y']);
    expect(order(['size'], all)).toEqual(['/a/y', '/a/x/2', '/a/x/1']);
  });

  test('puts a workload after those in it, and before them with memory.oom.group', () => {
    const nested = { '/a/x': { 'memory.current': 9 * MIB }, '/a/x/1': { 'memory.current': MIB } };
    expect(order(['size'], nested, { recursive: true })).toEqual(['/a/x/1', '/a/x']);
    const group = { ...nested, '/a/x': { ...nested['/a/x'], 'memory.oom.group': 1 } };
    expect(order(['size'], group, { recursive: true })).toEqual(['/a/x', '/a/x/1']);
  });

  test('may choose the scope itself', () => {
    expect(order(['size'], { '/a': { 'memory.current': MIB } }, { recursive: true })).toEqual(['/a']);
  });

  test('reads cgroups above workloads, too', () => {
    expect(comparedPaths(['/a/x/y/1', '/a/2'], '/a', true)).toEqual(['/a/x/y/1', '/a/2', '/a/x', '/a/x/y']);
    expect(comparedPaths(['/a/x/y/1'], '/a', false)).toEqual(['/a/x/y/1']);
    expect(comparedPaths(['/a/1'], '', true)).toEqual(['/a/1', '/a']);
  });
});

test.each<[path: string, scope: string, isIn: boolean]>([
  ['/a', '/a', true],
  ['/a/b', '/a', true],
  ['/ab', '/a', false],
  ['/', '/a', false],
  ['/a', '', true],
])('%j lies in the scope %j: %s', (path, scope, isIn) => {
  expect(isInScope(path, scope)).toBe(isIn);
});

test('only the values of the comparators are read, and those that show progress', () => {
  const progress = ['memory.current', 'memory.pressure.full.total', 'memory.oom.group'];
  expect([...comparedValues([ofCgroup([NOTIFY, { ...KILL, by: ['swap'] }])])].sort()).toEqual([...progress, 'memory.swap'].sort());
  expect([...comparedValues([ofCgroup([THROTTLE])])].sort()).toEqual([...progress, 'memory.protected'].sort());
});

test('the order of victims is total: it does not depend on the order of the candidates, and loses none', () => {
  const values = fc.record({ 'memory.current': fc.integer({ min: 0, max: 3 * MIB }), 'memory.swap': fc.integer({ min: 0, max: 2 * MIB }) });
  const tree = fc.constantFrom('/a/1', '/a/2', '/a/x/1', '/a/x/2', '/a/x', '/a/y/z/1');
  fc.assert(
    fc.property(fc.dictionary(tree, values), fc.subarray([...COMPARATORS]), fc.boolean(), (all, by, recursive) => {
      const reversed = Object.fromEntries(Object.entries(all).reverse());
      const found = order(by, all, { recursive });
      expect(found).toEqual(order(by, reversed, { recursive }));
      expect([...found].sort()).toEqual(Object.keys(all).sort());
    }),
  );
});
