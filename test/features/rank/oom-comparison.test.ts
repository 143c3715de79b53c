import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { oomOrder } from '../../../src/core/oom/oom-badness.js';
import { compareWithKernel, type OomComparison } from '../../../src/features/rank/oom-comparison.js';
import type { OomTask } from '../../../src/core/oom/oom-reading.js';
import { rank } from '../../../src/core/rank/rank.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { oomReading, task } from '../../core/oom/oom-support.js';
import { candidates, Mi, workload } from '../../core/support.js';

/** evictd's order is that of `names`. */
function compare(workloads: readonly Workload[], tasks: readonly OomTask[], domain?: string): readonly OomComparison[] {
  const usages = candidates(...workloads.map((each, index): [Workload, bigint] => [each, BigInt(100 - index) * Mi])).usages;
  const ranking = rank('memory.available', 'single', usages, departuresOf('evictd'));
  return compareWithKernel(ranking, oomOrder(oomReading(tasks)), domain).workloads;
}
const placesOf = (compared: readonly OomComparison[]): unknown[] =>
  compared.map(({ ranked, kernelPlace, by }) => [ranked.workload.name, ranked.place, kernelPlace, by?.task.pid]);

const critical = { protection: { kind: 'critical' } } as const;

describe('the ranks of workloads in the OOM order', () => {
  test.each<[rule: string, workloads: Workload[], tasks: OomTask[], places: unknown[], domain?: string]>([
    [
      'the first process of each workload counts; processes without a workload are omitted',
      [workload('a'), workload('b')],
      [task(10, 1n, { cgroup: '/a' }), task(11, 9n), task(12, 5n, { cgroup: '/b' }), task(13, 4n, { cgroup: '/a' })],
      [['a', 1, 2, 13], ['b', 2, 1, 12]], // oxfmt-ignore
    ],
    [
      'a process further below is of the workload',
      [workload('a')],
      [task(10, 1n, { cgroup: '/a/deep/down' }), task(11, 2n, { cgroup: '/ab' })],
      [['a', 1, 1, 10]],
    ],
    [
      'the kernel takes none of it',
      [workload('a')],
      [task(10, 1n, { cgroup: '/a', oomScoreAdj: -1000 })],
      [['a', 1, undefined, undefined]],
    ],
    [
      'a workload dies with the group of another',
      [workload('a', { path: '/w/a' }), workload('b', { path: '/w/b' }), workload('c')],
      [task(10, 9n, { cgroup: '/w/a', group: '/w' }), task(11, 5n, { cgroup: '/c' }), task(12, 1n, { cgroup: '/w/b', group: '/w' })],
      [['a', 1, 1, 10], ['b', 2, 1, 10], ['c', 3, 3, 11]], // oxfmt-ignore
    ],
    [
      'an OOM within a memcg does not touch those outside it',
      [workload('a', { path: '/w/a' }), workload('v', { path: '/v' }), workload('w2', { path: '/w2' })],
      [task(10, 9n, { cgroup: '/w/a' })],
      [['a', 1, 1, 10]],
      '/w',
    ],
    ['the memcg is in a workload', [workload('a', { path: '/w/a' })], [task(10, 9n, { cgroup: '/w/a/x/y' })], [['a', 1, 1, 10]], '/w/a/x'],
    [
      'a process counts for the inner one of nested workloads',
      [workload('outer', { path: '/w' }), workload('inner', { path: '/w/i' })],
      [task(10, 9n, { cgroup: '/w/i/x' }), task(11, 1n, { cgroup: '/w' })],
      [['outer', 1, 2, 11], ['inner', 2, 1, 10]], // oxfmt-ignore
    ],
  ])('%s', (_rule, workloads, tasks, places, domain) => {
    expect(placesOf(compare(workloads, tasks, domain))).toEqual(places);
  });
});

describe('protected workloads that the kernel would kill', () => {
  const sized = (db: bigint, web: bigint): OomTask[] => [task(10, db, { cgroup: '/db' }), task(11, web, { cgroup: '/web' })];

  test.each<[rule: string, workloads: Workload[], tasks: OomTask[], endangered: string[]]>([
    ['is killed before an evictable workload', [workload('db', critical), workload('web')], sized(9n, 5n), ['db']],
    ['is killed after all evictable workloads', [workload('db', critical), workload('web')], sized(5n, 9n), []],
    ['first, as the only workload', [workload('db', critical)], sized(5n, 9n), ['db']],
    ['is the first of only protected workloads', [workload('db', critical), workload('web', critical)], sized(9n, 5n), ['db']],
    [
      'is killed before a process that the kernel cannot kill',
      [workload('x'), workload('db', critical), workload('web')],
      [...sized(5n, 9n), task(12, 99n, { cgroup: '/x', oomScoreAdj: -1000 })],
      ['db'],
    ],
    [
      'has points equal to an evictable workload',
      [workload('web'), workload('x'), workload('db', critical)],
      [task(9, 9n, { cgroup: '/x' }), task(10, 5n, { cgroup: '/db', group: '/' }), task(11, 1n, { cgroup: '/web', group: '/' })],
      ['db'],
    ],
    ['an evictable workload is not endangered', [workload('db'), workload('web')], sized(9n, 5n), []],
    ['out of the reach of both', [workload('db', critical), workload('web')], [task(10, 9n, { cgroup: '/db', oomScoreAdj: -1000 })], []],
  ])('%s', (_rule, workloads, tasks, endangered) => {
    const compared = compare(workloads, tasks);
    expect(compared.filter((each) => each.endangered).map(({ ranked }) => ranked.workload.name)).toEqual(endangered);
  });
});
