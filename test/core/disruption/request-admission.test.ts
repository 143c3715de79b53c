import { describe, expect, test } from 'vitest';
import {
  admitByRequests,
  type NodeRequests,
  type RequestAnswer,
  type RequestingApplicant,
} from '../../../src/core/disruption/request-admission.js';
import { fc } from '../../support/property.js';
import { Mi, requesting, workload } from '../support.js';
import type { Workload } from '../../../src/core/workload/workload.js';

const of = (name: string, memoryMi: bigint, rest: Partial<Workload> = {}): Workload =>
  workload(name, { requests: requesting(memoryMi * Mi), qosClass: 'Burstable', ...rest });

const DB: RequestingApplicant = { name: 'db', critical: false, priority: 100, preemptionPolicy: 'PreemptLowerPriority', memory: 200n * Mi };

function answer(
  workloads: readonly Workload[],
  applicant: Partial<RequestingApplicant> = {},
  node: Partial<NodeRequests> = {},
): RequestAnswer {
  const rest = { capacity: 500n * Mi, halt: undefined, isEnding: () => false, isExempt: () => false, violated: () => [] };
  return admitByRequests({ ...DB, ...applicant }, { workloads, ...rest, ...node });
}

function ending(given: RequestAnswer): readonly string[] | undefined {
  return 'workloads' in given ? given.workloads.map(({ name }) => name) : undefined;
}

describe('the workloads that an admission request replaces', () => {
  test.each<[rule: string, workloads: readonly Workload[], ends: readonly string[]]>([
    [
      'the least important, also where that is more of them',
      [of('a', 300n), of('b', 100n, { priority: -1 }), of('c', 100n, { priority: -1 })],
      ['c', 'b'],
    ],
    ['the fewest of equally important workloads', [of('a', 100n), of('b', 100n), of('c', 300n)], ['c']],
    ['the smallest that is enough', [of('a', 280n), of('b', 220n)], ['b']],
    ['the youngest of equal workloads', [of('new', 250n, { startOrder: 2n }), of('old', 250n, { startOrder: 1n })], ['new']],
    [
      'a more important workload is replaced only for what the others leave missing',
      [of('a', 150n), of('b', 50n, { priority: 1 }), of('c', 300n, { priority: 1 })],
      ['a', 'b'],
    ],
    ['no workload is replaced in vain: the large one is enough', [of('a', 50n), of('b', 450n, { priority: 1 })], ['b']],
    ['Burstable before Guaranteed', [of('a', 250n, { qosClass: 'Guaranteed' }), of('b', 250n)], ['b']],
  ])('%s', (_rule, workloads, ends) => {
    const given = answer(workloads);
    expect([given.kind, ending(given)]).toEqual(['preempts', ends]);
  });
});

describe('admission within disruption budgets', () => {
  /** Of those whose name begins with the same letter one may end. */
  const budget = ({ name }: Workload, others: readonly Workload[]): readonly string[] =>
    others.some((other) => other.name.startsWith(name.slice(0, 1))) ? [name.slice(0, 1)] : [];
  const none = ({ name }: Workload): readonly string[] => (name.startsWith('a') ? ['a'] : []);

  test.each<
    [rule: string, workloads: readonly Workload[], ends: readonly string[], violating: readonly string[], rest?: Partial<NodeRequests>]
  >([
    [
      'a more important workload is replaced before one that a budget needs',
      [of('a', 250n), of('b', 250n, { priority: 1 })],
      ['b'],
      [],
      { violated: none },
    ],
    [
      'as many workloads as the budget permits are replaced, then others',
      [of('a1', 150n), of('a2', 150n), of('b', 100n, { priority: 1 }), of('c', 100n, { priority: 100 })],
      ['a2', 'b'],
      [],
    ],
    ['all workloads without a budget are not enough', [of('a', 400n), of('b', 100n, { priority: 1 })], ['a'], ['a'], { violated: none }],
    [
      'each of several budgets is respected',
      [
        ...['a1', 'a2', 'b1', 'b2'].map((name, index) => of(name, 100n, { priority: index })),
        of('c', 100n, { priority: 9 }),
        of('d', 100n, { priority: 100 }),
      ],
      ['a1', 'b1', 'c'],
      [],
    ],
    [
      'as few workloads as possible violate a budget',
      [of('a1', 100n), of('a2', 100n), of('a3', 100n), of('a4', 100n), of('b', 50n), of('c', 50n, { priority: 100 })],
      ['a4', 'a1'],
      ['a1'],
    ],
    [
      'a workload that may not be evicted now uses no budget',
      ['a1', 'a2', 'b', 'c', 'd'].map((name, index) => of(name, 100n, { priority: name === 'd' ? 100 : Math.max(0, index - 1) })),
      ['a1', 'b'],
      [],
      { isExempt: ({ name }) => name === 'a2' },
    ],
  ])('%s', (_rule, workloads, ends, violating, rest = {}) => {
    const given = answer(workloads, {}, { violated: budget, ...rest });
    expect([given.kind, ending(given)]).toEqual(['preempts', ends]);
    if (given.kind === 'preempts')
      expect([...given.violates].filter(([, names]) => names.length > 0).map(([id]) => id)).toEqual(violating.map((name) => `id-${name}`));
  });
});

test.each<[rule: string, answer: RequestAnswer, kind: string, ends?: readonly string[]]>([
  ['the workload fits exactly', answer([of('a', 300n)]), 'fits'],
  ['the workload is one byte too large', answer([of('a', 300n)], { memory: 200n * Mi + 1n }), 'preempts', ['a']],
  ['a workload that requests nothing fits on an overbooked node', answer([of('a', 600n)], { memory: 0n }), 'fits'],
  ['the cgroup of the workload itself, which systemd has already made, does not count', answer([of('db', 400n)]), 'fits'],
  [
    'the cgroup of the workload itself is found by its path',
    answer([of('b', 400n, { path: '/a/b' })], { name: undefined, path: '/a/b' }),
    'fits',
  ],
  ['workloads outside of the cgroup that shares the capacity', answer([of('a', 400n)], {}, { cgroup: '/pods' }), 'fits'],
  ['enough ends already', answer([of('a', 250n), of('b', 250n)], {}, { isEnding: ({ name }) => name === 'a' }), 'waits', ['a']],
  [
    'the memory of ending workloads is not enough',
    answer([of('a', 100n), of('b', 400n)], {}, { isEnding: ({ name }) => name === 'a' }),
    'preempts',
    ['b'],
  ],
  ['preemptionPolicy Never is honoured', answer([of('a', 400n)], { preemptionPolicy: 'Never' }), 'refused'],
  [
    'preemptionPolicy Never fits if enough workloads end already',
    answer([of('a', 400n)], { preemptionPolicy: 'Never' }, { isEnding: () => true }),
    'waits',
    ['a'],
  ],
  ['equal priority is not less important', answer([of('a', 400n, { priority: 100 })]), 'refused'],
  [
    'a critical applicant goes before all that are not critical',
    answer([of('a', 400n, { priority: 100 })], { critical: true }),
    'preempts',
    ['a'],
  ],
  ['a protected workload is not replaced', answer([of('a', 400n, { protection: { kind: 'critical' } })], { critical: true }), 'refused'],
  [
    'a workload that may not be evicted now is replaced',
    answer([of('a', 250n), of('b', 250n)], {}, { isExempt: ({ name }) => name === 'b' }),
    'preempts',
    ['a'],
  ],
  ['paused', answer([of('a', 400n)], {}, { halt: 'paused' }), 'refused'],
  ['the request is larger than the node', answer([of('a', 100n)], { memory: 501n * Mi }), 'refused'],
  [
    'too little is free even if all less important workloads are replaced',
    answer([of('a', 100n), of('b', 400n, { priority: 100 })]),
    'refused',
  ],
])('%s', (_rule, given, kind, ends) => {
  expect([given.kind, ending(given)]).toEqual([kind, ends]);
});

test('the victims free enough, each of them is needed, and workloads below their highest priority are not enough', () => {
  const memory = fc.bigInt(1n, 300n);
  const anyWorkload = fc.record({ memory, priority: fc.integer({ min: -2, max: 2 }) });
  fc.assert(
    fc.property(fc.array(anyWorkload, { maxLength: 8 }), memory, (drawn, needed) => {
      const workloads = drawn.map((each, index) => of(`w${String(index)}`, each.memory, { priority: each.priority }));
      const given = answer(workloads, { memory: needed * Mi, priority: 2 });
      if (given.kind !== 'preempts') return;
      const missing = given.requested - (given.capacity - given.used);
      const freed = (all: readonly Workload[]): bigint => all.reduce((sum, { requests }) => sum + requests.memory / 1_000_000_000n, 0n);
      expect(freed(given.workloads)).toBeGreaterThanOrEqual(missing);
      for (const victim of given.workloads) expect(freed(given.workloads.filter((each) => each !== victim))).toBeLessThan(missing);
      const most = Math.max(...given.workloads.map(({ priority }) => priority));
      expect(freed(workloads.filter(({ priority }) => priority < most))).toBeLessThan(missing);
    }),
  );
});
