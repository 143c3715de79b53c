import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import type { Layout } from '../../../src/core/signal/layout.js';
import { describeRanked, rank } from '../../../src/core/rank/rank.js';
import type { Resource, ResourceSignal } from '../../../src/core/signal/signal.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { container, containerStats, emptyDir, files, machine, pod, volumeStats } from '../usage.js';

const Mi = 1024n * 1024n;
const evictd = departuresOf('evictd');
const kubelet = departuresOf('kubelet');

/** Rows stand in the expected order; they are handed over in every rotation. */
function expectOrder(signal: ResourceSignal, rows: readonly WorkloadUsage[], departures = evictd, layout: Layout = 'single'): void {
  for (let rotation = 0; rotation < rows.length; rotation += 1) {
    const rotated = [...rows.slice(rotation), ...rows.slice(0, rotation)];
    const names = rank(signal, layout, rotated, departures).map((ranked) => ranked.workload.name);
    expect(names).toEqual(rows.map(({ workload }) => workload.name));
  }
}

describe('memory', () => {
  test.each<[rule: string, ...rows: WorkloadUsage[]]>([
    [
      'using exactly the request does not exceed it',
      machine('over', 1n, { priority: 5 }),
      machine('equal', 100n * Mi, { requests: { memory: 100n * Mi } }),
    ],
    [
      'exceeding the request comes before any priority',
      machine('over', 200n * Mi, { priority: 100, requests: { memory: 100n * Mi } }),
      machine('within', 900n * Mi, { priority: -100, requests: { memory: 1000n * Mi } }),
    ],
    ['lower priority ranks first', machine('low', 10n * Mi, { priority: -1 }), machine('high', 500n * Mi, { priority: 0 })],
    [
      'priorities as far apart as they can be',
      machine('lowest', Mi, { priority: -(2 ** 31) }),
      machine('middle', Mi),
      machine('highest', Mi, { priority: 2 ** 31 - 1 }),
    ],
    [
      'the workload with more memory above its request is first',
      machine('b', 150n * Mi, { requests: { memory: 10n * Mi } }),
      machine('a', 300n * Mi, { requests: { memory: 200n * Mi } }),
    ],
    [
      'within the request, closest to it goes first',
      machine('b', 95n * Mi, { requests: { memory: 100n * Mi } }),
      machine('a', 50n * Mi, { requests: { memory: 100n * Mi } }),
    ],
    ['a workload without usage and request does not exceed its request', machine('user', 1n), machine('idle', 0n)],
    [
      'avoided workloads rank after all others, whatever they use, and among themselves as usual',
      machine('within', 1n, { priority: 5, requests: { memory: 100n * Mi } }),
      machine('avoided', 900n * Mi, { priority: -100, avoid: true }),
      machine('avoided too', 800n * Mi, { priority: -100, avoid: true }),
    ],
  ])('%s', (_rule, ...rows) => {
    expectOrder('memory.available', rows);
    expectOrder('allocatableMemory.available', rows);
    expectOrder('memory.available', rows, kubelet);
  });

  test('half a byte of a request counts', () => {
    const [over, within] = [machine('over', 101n), machine('within', 100n, { priority: -1 })];
    const request = { memory: 100_500_000_000n, ephemeralStorage: 0n, inodes: 0n };
    const asking = ({ workload, stats }: WorkloadUsage): WorkloadUsage => ({ workload: { ...workload, requests: request }, stats });
    expectOrder('memory.available', [asking(over), asking(within)]);
  });

  test('the kubelet treats a value that is missing from the statistics as 0', () => {
    expectOrder('memory.available', [pod('little', { stats: { workingSetBytes: 1n } }), pod('missing', { stats: {} })], kubelet);
  });
});

describe('process ids', () => {
  test.each<[rule: string, ...rows: WorkloadUsage[]]>([
    [
      'only the priority ranks before the number of processes, because processes cannot be requested',
      pod('low', { priority: -1, stats: { processes: 1n } }),
      pod('high', { stats: { processes: 500n } }),
    ],
    ['the workload with more processes is first', pod('many', { stats: { processes: 3n } }), pod('few', { stats: { processes: 2n } })],
    [
      'requests of memory do not matter',
      pod('many', { requests: { memory: 100n }, stats: { processes: 3n } }),
      pod('few', { stats: { processes: 2n, workingSetBytes: 100n } }),
    ],
  ])('%s', (_rule, ...rows) => {
    expectOrder('pid.available', rows);
    expectOrder('pid.available', rows, kubelet);
  });

  test('the kubelet ranks a workload without statistics first within its priority', () => {
    const rows = [
      pod('low', { priority: -1, stats: { processes: 1n } }),
      pod('unknown', { stats: null }),
      pod('many', { stats: { processes: 9n } }),
    ];
    expectOrder('pid.available', rows, kubelet);
  });
});

describe('disks', () => {
  /** Each has one kind of file, in one amount of bytes and another of inodes. */
  const writable = pod('writable', { stats: { containers: [containerStats('a', { rootfs: files(300n, 1n) })] } });
  const logging = pod('logging', { stats: { containers: [containerStats('a', { logs: files(200n, 2n) })] } });
  const volumes = pod('volumes', { pod: { volumes: [emptyDir('v')] }, stats: { volumes: [volumeStats('v', 100n, 3n)] } });
  const all = [writable, logging, volumes];

  test.each<[layout: Layout, filesystem: 'nodefs' | 'imagefs' | 'containerfs', counting: readonly WorkloadUsage[]]>([
    ['single', 'nodefs', all],
    ['single', 'imagefs', all],
    ['single', 'containerfs', all],
    ['imagefs', 'nodefs', [logging, volumes]],
    ['imagefs', 'imagefs', [writable]],
    ['imagefs', 'containerfs', [writable]],
    ['split', 'nodefs', all],
    ['split', 'imagefs', []],
    ['split', 'containerfs', all],
  ])('layout %s, %s: the usage that counts', (layout, filesystem, counting) => {
    const used = (signal: ResourceSignal): string[] =>
      rank(signal, layout, all, kubelet)
        .filter(({ usage = 0n }) => usage > 0n)
        .map(({ workload }) => workload.name);
    expect(used(`${filesystem}.available`)).toEqual(counting.map(({ workload }) => workload.name));
    expect(used(`${filesystem}.inodesFree`)).toEqual(counting.map(({ workload }) => workload.name).reverse());
  });

  test.each<[rule: string, ...rows: WorkloadUsage[]]>([
    [
      'exceeding the request of storage comes before any priority',
      pod('over', { priority: 9, requests: { ephemeralStorage: 299n }, stats: writable.stats ?? null }),
      pod('equal', { requests: { ephemeralStorage: 300n }, stats: writable.stats ?? null }),
    ],
    [
      'the first of two statistics of one name counts',
      pod('first', { pod: { volumes: [emptyDir('v')] }, stats: { volumes: [volumeStats('v', 2n), volumeStats('v', 0n)] } }),
      pod('second', { pod: { volumes: [emptyDir('v')] }, stats: { volumes: [volumeStats('v', 1n), volumeStats('v', 9n)] } }),
    ],
    [
      'an emptyDir in memory does not count',
      pod('disk', { pod: { volumes: [emptyDir('v')] }, stats: { volumes: [volumeStats('v', 1n)] } }),
      pod('memory', { pod: { volumes: [emptyDir('v', undefined, 'Memory')] }, stats: { volumes: [volumeStats('v', 9n)] } }),
    ],
    [
      'a volume that the pod does not declare does not count',
      pod('own', { pod: { volumes: [emptyDir('v')] }, stats: { volumes: [volumeStats('v', 1n)] } }),
      pod('other', { stats: { volumes: [volumeStats('v', 9n)] } }),
    ],
    [
      'known parts count where another part is unknown',
      pod('logs', { stats: { containers: [containerStats('a', { logs: files(2n) })] } }),
      pod('rootfs', { stats: { containers: [containerStats('a', { rootfs: files(1n) })] } }),
    ],
  ])('%s', (_rule, ...rows) => {
    expectOrder('nodefs.available', rows);
    expectOrder('nodefs.available', rows, kubelet);
  });

  test('a machine workload may have a known total without parts', () => {
    const given = { ...machine('m', 0n), stats: { ...pod('x').stats, ephemeralStorageBytes: 7n } } as WorkloadUsage;
    expect(rank('nodefs.available', 'single', [given], evictd)[0]?.usage).toBe(7n);
    expect(rank('nodefs.inodesFree', 'single', [given], evictd)[0]?.usage).toBeUndefined();
  });

  test('a pod without containers and volumes has a known usage of 0', () => {
    expect(rank('nodefs.available', 'single', [pod('empty')], evictd)[0]?.usage).toBe(0n);
  });

  test('a pod of which every part is unknown has an unknown usage', () => {
    const silent = pod('silent', { pod: { containers: [container('a')] }, stats: { containers: [containerStats('a')] } });
    expect(rank('nodefs.available', 'single', [silent], evictd)[0]?.usage).toBeUndefined();
  });
});

test('a protected workload keeps its place and its reason', () => {
  const db = machine('db', 500n * Mi, { protection: { kind: 'critical' } });
  const [first, second] = rank('memory.available', 'single', [machine('web', 10n * Mi), db], evictd);
  expect(first).toMatchObject({ place: 1, protection: { kind: 'critical' }, aboveRequestNano: 500n * Mi * 1_000_000_000n });
  expect(second).toMatchObject({ place: 2, protection: undefined });
});

test.each<[signal: ResourceSignal, resource: Resource, given: WorkloadUsage, words: string]>([
  ['memory.available', 'memory', machine('w', 200n * Mi), 'uses 200MiB, has no request, priority 0'],
  [
    'memory.available',
    'memory',
    machine('w', 200n * Mi, { requests: { memory: 64n * Mi }, priority: -10 }),
    'uses 200MiB, 136MiB above its request of 64MiB, priority -10',
  ],
  [
    'memory.available',
    'memory',
    machine('w', 50n * Mi, { requests: { memory: 64n * Mi } }),
    'uses 50MiB, within its request of 64MiB, priority 0',
  ],
  ['memory.available', 'memory', pod('w', { stats: null }), 'uses an unknown amount, has no request, priority 0'],
  [
    'memory.available',
    'memory',
    pod('w', { stats: null, requests: { memory: Mi } }),
    'uses an unknown amount, has a request of 1MiB, priority 0',
  ],
  [
    'memory.available',
    'memory',
    machine('w', 50n * Mi, { protection: { kind: 'contains', name: 'db' } }),
    'uses 50MiB, has no request, priority 0; never evicted: contains db, which is protected',
  ],
  [
    'memory.available',
    'memory',
    machine('w', 50n * Mi, { protection: { kind: 'unit', rule: 'nut-*.service', why: 'power' } }),
    'uses 50MiB, has no request, priority 0; never evicted: protected unit (nut-*.service): power',
  ],
  [
    'memory.available',
    'memory',
    machine('w', 50n * Mi, { avoid: true }),
    'uses 50MiB, has no request, priority 0, to be avoided (a login session)',
  ],
  [
    'memory.available',
    'memory',
    machine('w', 50n * Mi, { avoid: true, oomPreference: 'avoid' }),
    'uses 50MiB, has no request, priority 0, to be avoided (ManagedOOMPreference=avoid)',
  ],
  ['pid.available', 'pids', pod('w', { stats: { processes: 3n } }), 'uses 3 processes, priority 0'],
  [
    'nodefs.inodesFree',
    'inodes',
    pod('w', { stats: { containers: [containerStats('a', { rootfs: files(1n, 12n) })] } }),
    'uses 12 inodes, has no request, priority 0',
  ],
])('the reason for a rank: %s %#', (signal, resource, given, words) => {
  const [ranked] = rank(signal, 'single', [given], evictd);
  expect(ranked && describeRanked(ranked, resource)).toBe(words);
});
