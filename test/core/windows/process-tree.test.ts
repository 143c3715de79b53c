import { expect, test } from 'vitest';
import { byAge, ProcessTree, type TreeProcess } from '../../../src/core/windows/process-tree.js';

const p = (pid: number, parentPid: number, createdAt: number): TreeProcess => ({ pid, parentPid, createdAt: BigInt(createdAt) });
const pids = (processes: readonly TreeProcess[]): number[] => processes.map(({ pid }) => pid);

test.each<[rule: string, processes: readonly TreeProcess[], below: readonly number[]]>([
  ['alone', [p(1, 0, 10)], [1]],
  ['children and theirs, the oldest first', [p(4, 3, 40), p(3, 1, 30), p(2, 1, 20), p(1, 0, 10)], [1, 2, 3, 4]],
  ['a grandchild older than a child', [p(1, 0, 10), p(4, 1, 20), p(3, 4, 25), p(2, 1, 30)], [1, 4, 3, 2]],
  ['a number that another one had: younger than its child it is no parent', [p(1, 0, 30), p(2, 1, 20)], [1]],
  ['as old as its child it is: the clock goes in ticks', [p(1, 0, 20), p(3, 2, 20), p(2, 1, 20)], [1, 2, 3]],
  ['an unknown start time: not a child', [p(1, 0, 10), p(2, 1, 0)], [1]],
  ['nor is it where that of the other is not known either', [p(1, 0, 0), p(2, 1, 0)], [1]],
  ['a parent that is not there', [p(1, 9, 10), p(2, 9, 20)], [1]],
  ['its own parent', [p(1, 1, 10)], [1]],
  ['each other’s parents', [p(1, 2, 10), p(2, 1, 20)], [1, 2]],
  ['each other’s parents, of one age: one of them is', [p(1, 2, 10), p(2, 1, 10)], [1]],
  ['a cycle of equal ages: the last is not a child', [p(1, 3, 10), p(2, 1, 10), p(3, 2, 10)], [1, 2]],
  ['of one age, by number', [p(1, 0, 10), p(7, 1, 20), p(5, 1, 20)], [1, 5, 7]],
])('below a process: %s', (_rule, processes, below) => {
  const root = p(1, 0, Number(processes.find(({ pid }) => pid === 1)?.createdAt));
  expect(pids(new ProcessTree(processes).below(root))).toEqual(below);
  expect(pids(new ProcessTree(processes.toReversed()).below(root))).toEqual(below);
});

test('a process that ended has no descendants, even if its pid is reused', () => {
  const tree = new ProcessTree([p(1, 0, 15), p(2, 1, 20)]);
  expect([tree.below(p(1, 0, 10)), tree.below(p(7, 0, 10))]).toEqual([[], []]);
});

test('ancestors, the nearest first, up to one that is not older', () => {
  const tree = new ProcessTree([p(1, 9, 50), p(2, 1, 20), p(3, 2, 30), p(4, 3, 40)]);
  expect(pids(tree.above(p(4, 3, 40)))).toEqual([3, 2]);
});

test.each<[rule: string, processes: readonly TreeProcess[], line: readonly number[]]>([
  ['itself and all that it descends from', [p(1, 0, 10), p(2, 1, 20), p(4, 2, 30), p(3, 2, 30)], [4, 2, 1]],
  ['the clock was set back: a parent that looks younger counts', [p(2, 1, 90), p(4, 2, 30), p(1, 0, 80)], [4, 2, 1]],
  ['a parent with an unknown start time counts', [p(1, 0, 10), p(2, 1, 0), p(4, 2, 30)], [4, 2, 1]],
  ['nor is its own known', [p(2, 0, 10), p(4, 2, 0)], [4, 2]],
  ['a parent that has ended', [p(2, 9, 10), p(4, 2, 30)], [4, 2]],
  ['a circle', [p(2, 4, 10), p(4, 2, 30)], [4, 2]],
  ['its own parent', [p(4, 4, 30)], [4]],
])('the line of a process: %s', (_rule, processes, line) => {
  expect([...new ProcessTree(processes).lineOf(4)]).toEqual(line);
});

test('the ancestors of a process as old as its parent', () => {
  const tree = new ProcessTree([p(1, 0, 10), p(2, 1, 20), p(3, 2, 20)]);
  expect(pids(tree.above(p(3, 2, 20)))).toEqual([2, 1]);
});

test('of those that are of one age and in a circle exactly one is above the others', () => {
  const circle = [p(1, 3, 10), p(2, 1, 10), p(3, 2, 10)];
  const tree = new ProcessTree(circle);
  expect(circle.filter((one) => tree.above(one).length === 0)).toEqual([p(3, 2, 10)]);
});

test('the line of a process that is not there is itself', () => {
  expect([...new ProcessTree([p(1, 0, 10)]).lineOf(8)]).toEqual([8]);
});

test('the order is total', () => {
  const shuffled = [p(3, 0, 20), p(1, 0, 20), p(2, 0, 10)];
  expect(pids([...shuffled].sort(byAge))).toEqual([2, 1, 3]);
  expect(byAge(p(1, 0, 10), p(1, 5, 10))).toBe(0);
});
