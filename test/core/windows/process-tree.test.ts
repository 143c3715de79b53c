import { expect, test } from 'vitest';
import { byAge, ProcessTree, type TreeProcess } from '../../../src/core/windows/process-tree.js';

const p = (pid: number, parentPid: number, createdAt: number): TreeProcess => ({ pid, parentPid, createdAt: BigInt(createdAt) });
const pids = (processes: readonly TreeProcess[]): number[] => processes.map(({ pid }) => pid);

test.each<[rule: string, processes: readonly TreeProcess[], below: readonly number[]]>([
  ['alone', [p(1, 0, 10)], [1]],
  ['children and theirs, the oldest first', [p(4, 3, 40), p(3, 1, 30), p(2, 1, 20), p(1, 0, 10)], [1, 2, 3, 4]],
  ['a grandchild older than a child', [p(1, 0, 10), p(4, 1, 20), p(3, 4, 25), p(2, 1, 30)], [1, 4, 3, 2]],
  ['a process with a reused pid that is younger than its child is not its parent', [p(1, 0, 30), p(2, 1, 20)], [1]],
  ['a process as old as its child is its parent, because the clock counts in ticks', [p(1, 0, 20), p(3, 2, 20), p(2, 1, 20)], [1, 2, 3]],
  ['an unknown start time: not a child', [p(1, 0, 10), p(2, 1, 0)], [1]],
  ['a process without a known start time is not a parent', [p(1, 0, 0), p(2, 1, 0)], [1]],
  ['a parent that does not exist', [p(1, 9, 10), p(2, 9, 20)], [1]],
  ['a process is listed as its own parent', [p(1, 1, 10)], [1]],
  ['two processes are listed as each other’s parents', [p(1, 2, 10), p(2, 1, 20)], [1, 2]],
  ['one of two processes of one age that are listed as each other’s parents is the parent', [p(1, 2, 10), p(2, 1, 10)], [1]],
  ['a cycle of equal ages: the last is not a child', [p(1, 3, 10), p(2, 1, 10), p(3, 2, 10)], [1, 2]],
  ['processes of one age are sorted by pid', [p(1, 0, 10), p(7, 1, 20), p(5, 1, 20)], [1, 5, 7]],
])('the processes below a process: %s', (_rule, processes, below) => {
  const root = p(1, 0, Number(processes.find(({ pid }) => pid === 1)?.createdAt));
  expect(pids(new ProcessTree(processes).below(root))).toEqual(below);
  expect(pids(new ProcessTree(processes.toReversed()).below(root))).toEqual(below);
});

test('a process that ended has no descendants, even if its pid is reused', () => {
  const tree = new ProcessTree([p(1, 0, 15), p(2, 1, 20)]);
  expect([tree.below(p(1, 0, 10)), tree.below(p(7, 0, 10))]).toEqual([[], []]);
});

test('ancestors are listed from the nearest up to the first that is not older', () => {
  const tree = new ProcessTree([p(1, 9, 50), p(2, 1, 20), p(3, 2, 30), p(4, 3, 40)]);
  expect(pids(tree.above(p(4, 3, 40)))).toEqual([3, 2]);
});

test.each<[rule: string, processes: readonly TreeProcess[], line: readonly number[]]>([
  ['itself and all that it descends from', [p(1, 0, 10), p(2, 1, 20), p(4, 2, 30), p(3, 2, 30)], [4, 2, 1]],
  ['the clock was set back: a parent that looks younger counts', [p(2, 1, 90), p(4, 2, 30), p(1, 0, 80)], [4, 2, 1]],
  ['a parent with an unknown start time counts', [p(1, 0, 10), p(2, 1, 0), p(4, 2, 30)], [4, 2, 1]],
  ['the start time of the process is unknown, too', [p(2, 0, 10), p(4, 2, 0)], [4, 2]],
  ['a parent that has ended', [p(2, 9, 10), p(4, 2, 30)], [4, 2]],
  ['a circle', [p(2, 4, 10), p(4, 2, 30)], [4, 2]],
  ['the process is listed as its own parent', [p(4, 4, 30)], [4]],
])('the ancestors of a process with itself: %s', (_rule, processes, line) => {
  expect([...new ProcessTree(processes).lineOf(4)]).toEqual(line);
});

test('a process as old as its child is an ancestor', () => {
  const tree = new ProcessTree([p(1, 0, 10), p(2, 1, 20), p(3, 2, 20)]);
  expect(pids(tree.above(p(3, 2, 20)))).toEqual([2, 1]);
});

test('exactly one of several processes of one age in a circle is above the others', () => {
  const circle = [p(1, 3, 10), p(2, 1, 10), p(3, 2, 10)];
  const tree = new ProcessTree(circle);
  expect(circle.filter((one) => tree.above(one).length === 0)).toEqual([p(3, 2, 10)]);
});

test('a process that does not exist is its own only ancestor', () => {
  expect([...new ProcessTree([p(1, 0, 10)]).lineOf(8)]).toEqual([8]);
});

test('the order of processes is total', () => {
  const shuffled = [p(3, 0, 20), p(1, 0, 20), p(2, 0, 10)];
  expect(pids([...shuffled].sort(byAge))).toEqual([2, 1, 3]);
  expect(byAge(p(1, 0, 10), p(1, 5, 10))).toBe(0);
});
