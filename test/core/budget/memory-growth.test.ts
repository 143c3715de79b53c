import { expect, test } from 'vitest';
import { NO_HOLDINGS, type MemoryHoldings } from '../../../src/core/budget/growth-base.js';
import { growthText, memoryCounters, memoryGrowth, type MemoryGrower } from '../../../src/core/budget/memory-growth.js';

const KiB = 1n << 10n;
const MiB = 1n << 20n;
const SECOND = 1_000_000_000n;

type Sizes = Readonly<Record<string, bigint>>;

type Others = Partial<Pick<MemoryHoldings, 'othersAtMost' | 'unread' | 'tmpfs'>>;

const holdings = (cgroups: Sizes, counters: Sizes = {}, others: Others = {}): MemoryHoldings => ({
  ...NO_HOLDINGS,
  cgroups: new Map(Object.entries(cgroups)),
  counters: new Map(Object.entries(counters)),
  above: new Set(['/', '/a.slice']),
  ...others,
});

const grown = (before: readonly [Sizes, Sizes?, Others?], after: readonly [Sizes, Sizes?, Others?]): readonly MemoryGrower[] => {
  const base = { available: 0n, held: new Map(), outside: holdings(...before), atNs: 0n, since: { kind: 'leak', freed: 0n } } as const;
  return memoryGrowth(base, { lost: 0n, workloads: [] }, holdings(...after), SECOND).growers;
};

const names = (growers: readonly MemoryGrower[]): readonly string[] => growers.map(({ name }) => name);

test('growers are sorted by growth, whatever their kind; a cgroup that has shrunk is not named', () => {
  const before = { '/system.slice/a.service': 100n * MiB, '/system.slice/b.service': 100n * MiB };
  const after = { '/system.slice/a.service': 150n * MiB, '/system.slice/b.service': 90n * MiB };
  expect(grown([before, { SUnreclaim: 0n, Shmem: 7n * MiB }], [after, { SUnreclaim: 60n * MiB, Shmem: 27n * MiB }])).toEqual([
    { kind: 'kernel', name: 'SUnreclaim', grownBytes: 60n * MiB },
    { kind: 'cgroup', name: '/system.slice/a.service', grownBytes: 50n * MiB },
    { kind: 'tmpfs', name: 'Shmem', grownBytes: 20n * MiB },
  ]);
});

test.each<[rule: string, bytes: bigint, named: readonly string[]]>([
  ['a mebibyte', MiB, ['/a']],
  ['less is noise', MiB - 1n, []],
])('the least growth: %s', (_rule, bytes, named) => {
  expect(names(grown([{ '/a': 0n }], [{ '/a': bytes }]))).toEqual(named);
});

test.each<[rule: string, bytes: bigint, named: readonly string[]]>([
  ['an eighth of the largest', 10n * MiB, ['/a', '/b']],
  ['less than that', 10n * MiB - 1n, ['/a']],
])('a second cgroup beside the largest grower: %s', (_rule, bytes, named) => {
  expect(names(grown([{ '/a': 0n, '/b': 0n }], [{ '/b': bytes, '/a': 80n * MiB }]))).toEqual(named);
});

test('at most three growers are named, and equal ones are sorted by name', () => {
  const of = (bytes: bigint): Sizes => ({ '/d': bytes, '/c': bytes, '/b': bytes, '/a': bytes });
  expect(names(grown([of(0n)], [of(MiB)]))).toEqual(['/a', '/b', '/c']);
});

test.each<[rule: string, before: readonly [Sizes, Sizes?, Others?], after: readonly [Sizes, Sizes?], named: readonly string[]]>([
  ['a cgroup that did not exist before has grown by all its memory', [{}], [{ '/new': 9n * MiB }], ['/new']],
  [
    'a cgroup that may have been beyond the limit of the reading has no known growth',
    [{}, {}, { unread: ['/'] }],
    [{ '/new': 9n * MiB }],
    [],
  ],
  [
    'a cgroup whose siblings were all read did not exist before',
    [{}, {}, { unread: ['/'] }],
    [{ '/a.slice/new': 9n * MiB }],
    ['/a.slice/new'],
  ],
  [
    'a cgroup too small to be listed held at most as much as the largest unlisted one',
    [{}, {}, { othersAtMost: 8n * MiB }],
    [{ '/b': 9n * MiB }],
    ['/b'],
  ],
  [
    'a cgroup that the largest unlisted one outweighs may not have grown',
    [{}, {}, { othersAtMost: 8n * MiB + 1n }],
    [{ '/b': 9n * MiB }],
    [],
  ],
  ['a new cgroup below one whose growth counts is not named', [{ '/docker': 9n * MiB }], [{ '/docker/x': 9n * MiB }], []],
  ['a counter that was not read before has no known growth', [{}, {}], [{}, { Percpu: 9n * MiB }], []],
  ['a counter that is not read any more has no known growth', [{}, { Percpu: 9n * MiB }], [{}, {}], []],
])('a cgroup without a reading before or after: %s', (_rule, before, after, named) => {
  expect(names(grown(before, after))).toEqual(named);
});

test.each<
  [rule: string, counters: readonly [Sizes, Sizes], tmpfs: readonly [Sizes | undefined, Sizes], grown: Readonly<Record<string, bigint>>]
>([
  ['a tmpfs that was not mounted before', [{ Shmem: 0n }, { Shmem: 9n }], [{}, { '/run/x': 9n }], { '/run/x': 9n }],
  [
    'the largest first, and the rest',
    [{ Shmem: 1n }, { Shmem: 10n }],
    [{ '/a': 2n }, { '/a': 4n, '/b': 3n }],
    { Shmem: 4n, '/b': 3n, '/a': 2n },
  ],
  [
    'swapped pages of a machine',
    [
      { Shmem: 5n, Percpu: 1n },
      { Shmem: 6n, Percpu: 1n },
    ],
    [{}, { '/a': 8n }],
    { '/a': 8n },
  ],
  ['in a cgroup at most what is charged to it', [{ Shmem: 0n }, { Shmem: 5n }], [{}, { '/a': 8n, '/b': 9n }], { '/b': 5n }],
  ['in a cgroup none if nothing is', [{ Shmem: 5n }, { Shmem: 5n }], [{}, { '/a': 8n }], {}],
  ['no reading before', [{ Shmem: 0n }, { Shmem: 9n }], [undefined, { '/a': 9n }], { Shmem: 9n }],
])('a tmpfs by its mount point: %s', (_rule, counters, [before, after], expected) => {
  const sized = (sizes: Sizes) => new Map(Object.entries(sizes).map(([name, mib]) => [name, mib * MiB]));
  const [first, second] = counters;
  const growers = grown(
    [{}, Object.fromEntries(sized(first)), before ? { tmpfs: sized(before) } : {}],
    [{}, Object.fromEntries(sized(second)), { tmpfs: sized(after) }],
  );
  expect(Object.fromEntries(growers.map(({ name, grownBytes }) => [name, grownBytes / MiB]))).toEqual(expected);
  expect(growers.every(({ kind }) => kind === 'tmpfs')).toBe(true);
});

test.each<[grower: MemoryGrower, words: string]>([
  [{ kind: 'cgroup', name: '/system.slice/backup.service', grownBytes: 312n * MiB }, 'unit backup.service grew by 312MiB'],
  [{ kind: 'workload', name: 'db', protection: 'critical', grownBytes: MiB }, 'db (never evicted: critical) grew by 1MiB'],
  [{ kind: 'workload', name: 'batch', grownBytes: MiB }, 'batch grew by 1MiB'],
  [{ kind: 'cgroup', name: '/lxc/web.1', grownBytes: MiB }, 'cgroup /lxc/web.1 grew by 1MiB'],
  [{ kind: 'kernel', name: 'SUnreclaim', grownBytes: 200n * MiB }, 'kernel slab grew by 200MiB (slabtop shows what)'],
  [{ kind: 'kernel', name: 'PageTables', grownBytes: 2n * MiB }, 'page tables grew by 2MiB (VmPTE in /proc/PID/status)'],
  [{ kind: 'tmpfs', name: '/run/x', grownBytes: 64n * MiB }, 'tmpfs /run/x grew by 64MiB'],
  [{ kind: 'tmpfs', name: 'Shmem', grownBytes: 64n * MiB }, 'tmpfs grew by 64MiB (or shared memory; df -t tmpfs -h shows mounts)'],
])('growth text %#: it names the grower, and a command that shows more', (grower, words) => {
  expect(growthText({ forNs: 2n * SECOND + 1n, growers: [grower] })).toBe(`in the last 2.1s ${words}`);
});

test('several growers are one sentence, and no grower gives no sentence', () => {
  const growers = ['/a', '/b'].map((name): MemoryGrower => ({ kind: 'cgroup', name, grownBytes: 1536n * KiB }));
  expect(growthText({ forNs: 60n * SECOND, growers })).toBe('in the last 1m0s cgroup /a grew by 1.5MiB, cgroup /b grew by 1.5MiB');
  expect(growthText({ forNs: SECOND, growers: [] })).toBe('');
});

test('the text names cgroups that were not read, whether or not something grew', () => {
  const text = (before: Others, after: Others, bytes = MiB): string => {
    const base = { available: 0n, held: new Map(), outside: holdings({ '/a': 0n }, {}, before), atNs: 0n } as const;
    const since = { kind: 'leak', freed: 0n } as const;
    return growthText(memoryGrowth({ ...base, since }, { lost: 0n, workloads: [] }, holdings({ '/a': bytes }, {}, after), SECOND));
  };
  expect(text({ unread: ['/x'] }, { unread: ['/x'] })).toBe('in the last 1s cgroup /a grew by 1MiB (not all cgroups below /x were read)');
  const grew = 'in the last 1s nothing that was read grew';
  expect(text({ unread: ['/y'] }, { unread: ['/x'] }, 0n)).toBe(`${grew} (not all cgroups below /x and 1 more were read)`);
});

test('the counters of /proc/meminfo are read, and memory that no counter has is computed', () => {
  const users = { MemTotal: 1000, MemFree: 300, Buffers: 1, Cached: 200, SwapCached: 2, AnonPages: 100, SReclaimable: 20 };
  const kernel = { SUnreclaim: 30, PageTables: 4, SecPageTables: 5, KernelStack: 6, VmallocUsed: 7, Percpu: 8, Hugetlb: 90, Zswap: 10 };
  const counted = (fields: Readonly<Record<string, number>>) => {
    const text = Object.entries(fields).map(([field, mib]) => `${field}: ${String(mib * 1024)} kB\n`);
    return Object.fromEntries([...memoryCounters(text.join(''))].map(([field, bytes]) => [field, Number(bytes / MiB)]));
  };
  expect(counted({ ...users, ...kernel, Shmem: 50, Zswapped: 40, HugePages_Total: 9 })).toEqual({ ...kernel, Shmem: 50, Unaccounted: 217 });
  expect(counted({ ...users, MemFree: 900 })).toEqual({ Unaccounted: 0 });
  expect(counted({ MemTotal: 1000, MemFree: 300 })).toEqual({});
});
