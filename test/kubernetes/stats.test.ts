import { describe, expect, test } from 'vitest';
import { DocumentError } from '../../src/errors.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { usagesIn } from '../../src/kubernetes/stats.js';
import { podDocument } from './support.js';

const podRef = (uid: string, name = 'web', namespace = 'shop') => ({ podRef: { uid, name, namespace } });
/** What the summary says about the pod with the uid 'u'. */
const statsOf = (summary: unknown) => usagesIn(summary)([workloadOfPod(podDocument({ metadata: { uid: 'u' } }))])[0]?.stats;
const using = (workingSetBytes: unknown) => ({ memory: { workingSetBytes } });

test('all statistics that a pod may report are read', () => {
  const filesystem = { usedBytes: 10, inodesUsed: 20, time: '2026-01-01T00:00:00Z', capacityBytes: 1 };
  const summary = {
    pods: [
      {
        ...podRef('u'),
        memory: { workingSetBytes: 1, usageBytes: 2, rssBytes: 3 },
        process_stats: { process_count: 4 },
        'ephemeral-storage': { usedBytes: 5 },
        containers: [{ name: 'app', memory: { workingSetBytes: 6 }, rootfs: filesystem, logs: { usedBytes: 7 } }, { name: 'idle' }],
        volume: [{ name: 'cache', ...filesystem }, { name: 'unknown' }],
      },
    ],
  };
  expect(statsOf(summary)).toEqual({
    workingSetBytes: 1n,
    usageBytes: 2n,
    processes: 4n,
    ephemeralStorageBytes: 5n,
    containers: [
      { name: 'app', workingSetBytes: 6n, rootfs: { usedBytes: 10n, inodesUsed: 20n }, logs: { usedBytes: 7n, inodesUsed: undefined } },
      { name: 'idle', workingSetBytes: undefined, rootfs: undefined, logs: undefined },
    ],
    volumes: [
      { name: 'cache', usedBytes: 10n, inodesUsed: 20n },
      { name: 'unknown', usedBytes: undefined, inodesUsed: undefined },
    ],
  });
});

test('statistics with only a name have unknown numbers, not zero', () => {
  expect(statsOf({ pods: [podRef('u')] })).toEqual({
    workingSetBytes: undefined,
    usageBytes: undefined,
    processes: undefined,
    ephemeralStorageBytes: undefined,
    containers: [],
    volumes: [],
  });
});

test.each<[rule: string, pod: Readonly<Record<string, unknown>>, without: true | undefined]>([
  ['with a working set', using(0), undefined],
  ['without', { memory: { usageBytes: 1 } }, true],
  ['memory without values', { memory: {} }, true],
  ['none', {}, undefined],
  ['null', { memory: null }, undefined],
])('statistics have memory or not: %s', (_rule, pod, without) => {
  expect(statsOf({ pods: [{ ...podRef('u'), ...pod }] })?.memoryWithoutWorkingSet).toBe(without);
});

test.each<[rule: string, count: unknown, bytes: bigint | undefined]>([
  ['zero', 0, 0n],
  ['null is absent', null, undefined],
  ['more than a double can hold', 2n ** 53n + 1n, 2n ** 53n + 1n],
  ['the largest that is positive', 2n ** 63n - 1n, 2n ** 63n - 1n],
  ['from 2^63 on the number is negative', 2n ** 63n, -(2n ** 63n)],
  ['the largest of all', 2n ** 64n - 1n, -1n],
])('the working set is parsed: %s', (_rule, count, bytes) => {
  expect(statsOf({ pods: [{ ...podRef('u'), ...using(count) }] })?.workingSetBytes).toBe(bytes);
});

test.each<[rule: string, pod: Readonly<Record<string, unknown>>, path: string]>([
  ['negative', using(-1), 'pods[0].memory.workingSetBytes'],
  ['broken', { process_stats: { process_count: 1.5 } }, 'pods[0].process_stats.process_count'],
  ['wider than 64 bits', { 'ephemeral-storage': { usedBytes: 2n ** 64n } }, 'pods[0].ephemeral-storage.usedBytes'],
  ['volumes that are not a list', { volume: 'cache' }, 'pods[0].volume'],
])('the document is not a summary: %s', (_rule, pod, path) => {
  expect(() => statsOf({ pods: [{ ...podRef('u'), ...pod }] })).toThrow(expect.objectContaining({ constructor: DocumentError, path }));
});

describe('the statistics of a pod', () => {
  const mirror = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash' } } };
  const noUid = { metadata: { uid: '' } };

  test.each<[rule: string, pod: Parameters<typeof podDocument>[0], pods: readonly unknown[], bytes: bigint | undefined]>([
    ['are those with its uid', {}, [{ ...podRef('uid-web', 'other'), ...using(1) }], 1n],
    ['are not those of an earlier pod of its name', {}, [{ ...podRef('uid-old'), ...using(1) }], undefined],
    [
      'the last where a uid comes twice',
      {},
      [
        { ...podRef('uid-web'), ...using(1) },
        { ...podRef('uid-web'), ...using(2) },
      ],
      2n,
    ],
    ['are those with its name and without a uid, if it has no uid', noUid, [{ ...podRef(''), ...using(1) }], 1n],
    ['are not those of another pod without a uid', noUid, [{ ...podRef('', 'api'), ...using(1) }], undefined],
    ['are not those of its name in another namespace', noUid, [{ ...podRef('', 'web', 'test'), ...using(1) }], undefined],
    ['are not those of its name with a uid, if it has no uid', noUid, [{ ...podRef('uid-old'), ...using(1) }], undefined],
    ['are those of the static pod, for a mirror pod', mirror, [{ ...podRef('hash'), ...using(1) }], 1n],
    ['none', {}, [], undefined],
  ])('%s', (_rule, pod, pods, bytes) => {
    const workload = workloadOfPod(podDocument(pod));
    const [usage] = usagesIn({ pods })([workload]);
    expect(usage?.workload).toBe(workload);
    expect(usage?.stats?.workingSetBytes).toBe(bytes);
  });

  test('are in the order of the pods', () => {
    const pods = ['b', 'a'].map((uid) => workloadOfPod(podDocument({ metadata: { uid } })));
    const usages = usagesIn({
      pods: [
        { ...podRef('a'), ...using(1) },
        { ...podRef('b'), ...using(2) },
      ],
    })(pods);
    expect(usages.map(({ stats }) => stats?.workingSetBytes)).toEqual([2n, 1n]);
  });
});
