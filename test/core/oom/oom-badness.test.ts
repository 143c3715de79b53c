import { describe, expect, test } from 'vitest';
import { badnessPages, killedTogether, oomOrder, oomScoreOf, type OomExemption } from '../../../src/core/oom/oom-badness.js';
import type { OomReading, OomTask } from '../../../src/core/oom/oom-reading.js';
import { oomReading, PAGE, task } from './oom-support.js';
import { Gi, Mi } from '../support.js';

const pids = (reading: OomReading): number[] => oomOrder(reading).candidates.map((candidate) => candidate.task.pid);

describe('the badness points of a process', () => {
  const memory = { rssBytes: 100n * PAGE, swapBytes: 10n * PAGE, pageTableBytes: 3n * PAGE };

  test.each<[rule: string, adj: number, totalPages: bigint, points: bigint]>([
    ['resident, swapped and page table pages', 0, 1_000_000n, 113n],
    ['a thousandth of the whole for each step', 1, 1_000_000n, 1113n],
    ['oom_score_adj is negative', -1, 1_000_000n, -887n],
    ['the whole is divided first', 1000, 1_999n, 1113n],
    ['less than 1000 pages: the adjustment counts nothing', 1000, 999n, 113n],
  ])('%s', (_rule, adj, totalPages, points) => {
    expect(badnessPages(memory, adj, totalPages, PAGE)).toBe(points);
  });

  test('round half a page of page tables down', () => {
    expect(badnessPages({ ...memory, pageTableBytes: 4n * PAGE - 1n }, 0, 1_000_000n, PAGE)).toBe(113n);
  });

  test.each<[rule: string, points: bigint, totalPages: bigint, score: bigint]>([
    ['nothing', 0n, 1000n, 666n],
    ['the process holds all of the machine', 1000n, 1000n, 1333n],
    ['the process holds all of the machine, with oom_score_adj 1000', 2000n, 1000n, 2000n],
    ['oom_score_adj −999 and nothing else', -999n, 1000n, 0n],
    ['divided towards 0', -1n, 1999n, 666n],
    ['70 MiB on 23.5 GiB with oom_score_adj 500', 18_000n + 500n * 6171n, 6_171_021n, 1001n],
  ])('oom_score: %s', (_rule, points, totalPages, score) => {
    expect(oomScoreOf(points, totalPages)).toBe(score);
  });
});

describe('the order of OOM kills', () => {
  test.each<[rule: string, tasks: OomTask[], order: number[]]>([
    ['the largest first', [task(10, 1n), task(11, 3n), task(12, 2n)], [11, 12, 10]],
    ['the last process examined wins among equals', [task(12, 5n), task(10, 5n), task(11, 5n)], [11, 10, 12]],
    ['oom_score_adj outweighs size', [task(10, 800n), task(11, 1n, { oomScoreAdj: 100 })], [11, 10]],
    ['a process whose oom_score_adj outweighs its size is still listed', [task(10, 1n, { oomScoreAdj: -999 }), task(11, 2n)], [11, 10]],
    [
      'swap and page tables count',
      [task(10, 4n), task(11, 1n, { memory: { rssBytes: Mi, swapBytes: 2n * Mi, pageTableBytes: 2n * Mi } })],
      [11, 10],
    ],
    ['there is no process', [], []],
  ])('%s', (_rule, tasks, order) => {
    expect(pids(oomReading(tasks))).toEqual(order);
  });

  test('measures oom_score_adj in parts of the memcg, not of the machine', () => {
    const tasks = [task(10, 100n), task(11, 50n, { oomScoreAdj: 100 })];
    expect(pids(oomReading(tasks))).toEqual([11, 10]);
    expect(pids(oomReading(tasks, { memcg: { cgroup: '/w', totalBytes: 256n * Mi } }))).toEqual([10, 11]);
  });

  test('treats a memcg that may hold nothing as one page, and does not divide by 0', () => {
    expect(pids(oomReading([task(10, 1n, { oomScore: 0 })], { memcg: { cgroup: '/w', totalBytes: 0n } }))).toEqual([]);
    expect(pids(oomReading([task(10, 1n)], { memcg: { cgroup: '/w', totalBytes: 0n } }))).toEqual([10]);
  });
});

describe('processes that are exempt from OOM kills', () => {
  test.each<[rule: string, task: OomTask, exemption: OomExemption | undefined, reading?: Partial<OomReading>]>([
    ['a kernel thread', task(2, 0n, { kernelThread: true, memory: undefined, oomScore: 0 }), 'kernel-thread'],
    ['a process that has ended', task(9, 0n, { memory: undefined, oomScore: 0 }), 'ended'],
    ['process 1 of the machine', task(1, 99n), 'init'],
    ["process 1 of a container is the machine's 4711", task(1, 99n), undefined, { initialPidNamespace: false }],
    ['oom_score_adj −1000', task(9, 99n, { oomScoreAdj: -1000, oomScore: 0 }), 'unkillable'],
    ['−999 is not', task(9, 99n, { oomScoreAdj: -999, oomScore: 0 }), undefined],
    ['memory, and the kernel gives no points', task(9, 99n, { oomScore: 0 }), 'passed-over'],
    ['0 points may be the real value, so the process counts', task(9, 1n, { oomScore: 0, oomScoreAdj: -995 }), undefined],
    ['an oom_score that cannot be read is not 0', task(9, 99n, { oomScore: undefined }), undefined],
  ])('%s', (_rule, given, exemption, reading) => {
    const order = oomOrder(oomReading([given], reading));
    expect(order.exempt).toEqual(exemption === undefined ? [] : [{ task: given, exemption }]);
    expect(order.candidates).toHaveLength(exemption === undefined ? 1 : 0);
  });
});

describe('a kill with memory.oom.group', () => {
  const order = oomOrder(
    oomReading([
      task(10, 9n, { group: '/w' }),
      task(11, 5n),
      task(12, 1n, { group: '/w' }),
      task(13, 7n, { group: '/w', oomScoreAdj: -1000 }),
      task(14, 2n, { group: '/v' }),
    ]),
  );

  test.each<[rule: string, chosen: number, dead: number[]]>([
    ['all processes of the group die but the unkillable ones', 10, [10, 12]],
    ['whichever member is selected', 12, [10, 12]],
    ['without a group only the chosen process dies', 11, [11]],
  ])('%s', (_rule, chosen, dead) => {
    const candidate = order.candidates.find((each) => each.task.pid === chosen);
    expect(candidate && killedTogether(candidate, order).map((each) => each.task.pid)).toEqual(dead);
  });

  test('the order itself is by process', () => {
    expect(order.candidates.map((each) => each.task.pid)).toEqual([10, 11, 14, 12]);
  });
});

test('the scale of points on a machine of 8 GiB', () => {
  expect((8n * Gi) / PAGE / 1000n).toBe(2097n);
});
