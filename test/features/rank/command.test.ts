import { describe, expect, test } from 'vitest';
import { rankCommand } from '../../../src/features/rank/command.js';
import { ConfigError } from '../../../src/errors.js';
import type { DiskHolding, DiskHoldings } from '../../../src/core/disk/disk-amount.js';
import type { DiskHolders } from '../../../src/core/disk/filesystem-holders.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import type { OomReading } from '../../../src/core/oom/oom-reading.js';
import { oomReading, task } from '../../core/oom/oom-support.js';
import { Mi, candidates, requesting, stats, workload } from '../../core/support.js';
import { ordinal } from '../../../src/core/message/unit-message.js';
import { reading } from '../check/support.js';
import { fakeReading, ran, type FakeReading, type Ran } from '../../cli/support.js';

const MEMBERS: Candidates = {
  ...candidates(
    [workload('web', { requests: requesting(64n * Mi) }), 32n * Mi],
    [workload('db', { protection: { kind: 'critical' } }), 100n * Mi],
    [workload('batch', { priority: -10, requests: requesting(64n * Mi) }), 200n * Mi],
  ),
  unreadable: [{ name: 'odd', path: '/w/odd', reason: 'EIO' }],
};
const empty = (...names: string[]): Candidates => ({
  ...candidates(...names.map((name): Parameters<typeof candidates>[number] => [workload(name), 0n])),
  veto: () => ({ kind: 'vacant' }),
});
const WORKLOADS = ['--workload-cgroup', '/w'];

const opened = (given?: Candidates, options: Parameters<typeof fakeReading>[1] = {}): FakeReading =>
  fakeReading(() => reading({}), { ...options, ...(given && { candidates: given }) });
const unread = (): OomReading => expect.unreachable('the OOM killer was not asked for');
const rank = (given: FakeReading, ...args: string[]): Promise<Ran> =>
  ran((io) => rankCommand({ io, open: () => given, readOomKiller: unread }), args);

test('rank prints the order, the reasons, and protected workloads', async () => {
  const given = opened(MEMBERS);
  const { out, error } = await rank(given, ...WORKLOADS);
  expect(error).toBeUndefined();
  expect(`\n${out}`).toBe(`
#  WORKLOAD  PRIORITY   USAGE  REQUEST  OVER REQUEST
1  batch          -10  200MiB    64MiB        136MiB
2  web              0   32MiB    64MiB             -
-  db               0  100MiB        -        100MiB  never evicted: critical

memory.available: batch would be evicted first: it uses 200MiB, 136MiB above its request of 64MiB, priority -10
left out: odd: EIO
`);
  expect(given.closed()).toBe(1);
  expect(given.armed).toEqual([]);
});

test('rank for process IDs sorts by priority, then by their number', async () => {
  const counts = new Map([
    ['id-web', 40n],
    ['id-db', 900n],
    ['id-batch', 3n],
  ]);
  const given = opened({ ...MEMBERS, processes: () => counts });
  const { out } = await rank(given, ...WORKLOADS, '-s', 'pid.available');
  expect(`\n${out}`).toBe(`
#  WORKLOAD  PRIORITY          USAGE
1  batch          -10    3 processes
2  web              0   40 processes
-  db               0  900 processes  never evicted: critical

pid.available: batch would be evicted first: it uses 3 processes, priority -10
left out: odd: EIO
`);
  const json = JSON.parse((await rank(given, ...WORKLOADS, '-s', 'pid.available', '-o', 'json')).out) as { workloads: unknown[] };
  expect(json.workloads[0]).toMatchObject({ name: 'batch', processes: 3 });
  expect(json.workloads[0]).not.toHaveProperty('workingSetBytes');
});

test('rank for pressure counts swap as usage', async () => {
  const [first] = MEMBERS.usages;
  if (first?.stats === undefined) throw new Error('no statistics');
  const given = { ...MEMBERS, usages: [{ ...first, stats: { ...first.stats, swapBytes: 100n * Mi } }] };
  const json = async (signal: string): Promise<unknown> => {
    const { out } = await rank(opened(given), ...WORKLOADS, '-s', signal, '-o', 'json');
    return (JSON.parse(out) as { workloads: unknown[] }).workloads[0];
  };
  const workingSetBytes = 32 * 1024 * 1024;
  const swapBytes = 100 * 1024 * 1024;
  expect(await json('memory.pressure.full')).toMatchObject({
    workingSetBytes,
    swapBytes,
    aboveRequestBytes: workingSetBytes + swapBytes - 64 * 1024 * 1024,
    reasons: 'uses 132MiB (100MiB of it swap), 68MiB above its request of 64MiB, priority 0',
  });
  expect(await json('memory.available')).not.toHaveProperty('swapBytes');
});

test('rank -o json has every comparator of the order', async () => {
  const { out } = await rank(opened(MEMBERS), ...WORKLOADS, '-o', 'json');
  const report = JSON.parse(out) as { workloads: unknown[] };
  expect(report).toMatchObject({
    signal: 'memory.available',
    node: { name: '/demo', cgroup: '/demo', cgroupVersion: 2 },
    evictable: true,
    victim: 'batch',
    vacant: [],
    unreadable: [{ name: 'odd', path: '/w/odd', reason: 'EIO' }],
    problems: [],
  });
  expect(report.workloads[0]).toStrictEqual({
    place: 1,
    name: 'batch',
    path: '/batch',
    exceedsRequest: true,
    priority: -10,
    aboveRequestBytes: 142606336,
    workingSetBytes: 209715200,
    usageBytes: 209715200,
    requestBytes: 67108864,
    protection: null,
    reasons: 'uses 200MiB, 136MiB above its request of 64MiB, priority -10',
  });
  expect(report.workloads.slice(1)).toMatchObject([
    { place: 2, name: 'web', aboveRequestBytes: -33554432 },
    { place: null, name: 'db', protection: 'critical' },
  ]);
});

test.each<[rule: string, given: Candidates | undefined, args: string[], conclusion: RegExp]>([
  ['there is no workload source', MEMBERS, [], /^nothing is evictable: no workload source is configured/],
  ['there is no workload', undefined, WORKLOADS, /^nothing is evictable: there is no workload\n/],
  [
    'there is one cgroup, without processes',
    empty('a'),
    WORKLOADS,
    /^nothing is evictable: there is no workload \(1 cgroup has no process\)\n/,
  ],
  ['cgroups without a process', empty('a', 'b'), WORKLOADS, /^nothing is evictable: there is no workload \(2 cgroups have no process\)\n/],
  [
    'all workloads are protected',
    candidates([workload('db', { protection: { kind: 'critical' } }), 1n]),
    WORKLOADS,
    /\n\nnothing is evictable: every workload is protected\n$/,
  ],
  [
    'a disk without usage',
    MEMBERS,
    [...WORKLOADS, '--signal', 'nodefs.available'],
    /\n\nnothing is evictable: every workload is protected or frees nothing for nodefs.available\n/,
  ],
])('rank says, without an error: %s', async (_rule, given, args, conclusion) => {
  const { out, error } = await rank(opened(given), ...args);
  expect(error).toBeUndefined();
  expect(out).toMatch(conclusion);
});

test('rank for a disk prints usage, the amount that an eviction frees, and the age of the measurement', async () => {
  const held = (bytes: bigint): DiskHolding => ({
    uses: { bytes, inodes: 1n },
    frees: { bytes: bytes / 2n, inodes: 1n },
    atNs: process.hrtime.bigint() - 7_200_400_000_000n,
  });
  const disks = (path: string): DiskHoldings => ({ nodefs: path === '/web' ? held(8n * Mi) : 'measuring' });
  const { out } = await rank(opened(MEMBERS, { disks }), '-s', 'nodefs.available', ...WORKLOADS);
  const [headings, ...rows] = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(headings).toEqual(['#', 'WORKLOAD', 'PRIORITY', 'USAGE', 'FREES', 'MEASURED']);
  expect(rows.find(([, name]) => name === 'web')).toEqual(['1', 'web', '0', '8MiB', '4MiB', expect.stringMatching(/^2h0m\d+s ago$/)]);
  expect(rows.find(([, name]) => name === 'db')?.slice(3)).toEqual(['?', '?', '?', 'never evicted: critical']);
});

test('rank for a disk lists the largest users, also if no workload is evictable', async () => {
  const amount = (bytes: bigint) => ({ bytes, inodes: 1n });
  const holders: DiskHolders = {
    imagefs: {
      deleted: [{ kind: 'deleted-files', holds: amount(2n * Mi), processes: [{ pid: 7, name: 'java', cgroup: '/a' }], count: 1 }],
      directories: {
        root: { path: '/', amount: amount(10n * Mi) },
        below: [{ path: '/var/log', amount: amount(10n * Mi) }],
        atNs: process.hrtime.bigint(),
        isPartial: true,
      },
    },
  };
  const opening = opened(MEMBERS, { holders });
  const { out } = await rank(opening, '--signal', 'imagefs.available');
  expect(out)
    .toBe(`nothing is evictable: no workload source is configured (set workloads in the configuration, or use --workload-cgroup or --workload-slice)
logs in /var/log hold at least 10MiB in 1 inode
deleted files: java (pid 7) of /a holds 2MiB in 1 deleted file
`);
  const { out: json } = await rank(opening, '--signal', 'imagefs.available', '-o', 'json', ...WORKLOADS);
  expect((JSON.parse(json) as { holders: unknown }).holders).toMatchObject([
    { kind: 'directory', path: '/var/log', logs: true, partial: true },
    { kind: 'deleted-files', processCount: 1 },
  ]);
  expect((await rank(opening, '--signal', 'nodefs.available', ...WORKLOADS)).out).not.toMatch(/holds? /);
});

describe('cgroups without processes', () => {
  const vacant = (...used: readonly (bigint | undefined)[]): Candidates => ({
    ...candidates(),
    usages: used.map((workingSetBytes, index) => ({
      workload: workload(`w${String(index)}`),
      stats: workingSetBytes === undefined ? undefined : stats({ workingSetBytes, usageBytes: workingSetBytes + Mi }),
    })),
    veto: () => ({ kind: 'vacant' }),
  });
  const listed = async (given: Candidates): Promise<string[]> => {
    const { out } = await rank(opened(given), ...WORKLOADS);
    return out.split('\n').filter((line) => line.startsWith('no process: '));
  };

  test('are listed with their usage, the largest first, and the sum', async () => {
    expect(await listed(vacant(Mi, undefined, 107n * Mi, 0n))).toEqual([
      'no process: /w2 uses 107MiB',
      'no process: /w0 uses 1MiB',
      'no process: /w1 uses an unknown amount',
      'no process: /w3 uses 0B',
      'no process: all 4 use 108MiB',
    ]);
  });

  test('have no sum if there is one', async () => {
    expect(await listed(vacant(Mi))).toEqual(['no process: /w0 uses 1MiB']);
  });

  test('are listed up to twenty', async () => {
    expect((await listed(vacant(...Array<bigint>(20).fill(Mi)))).slice(19)).toEqual([
      'no process: /w9 uses 1MiB',
      'no process: all 20 use 20MiB',
    ]);
    const more = await listed(vacant(...Array<bigint>(21).fill(Mi)));
    expect(more.slice(20)).toEqual(['no process: 1 more; all 21 use 21MiB']);
  });

  test('are below the others, whether the pass or the last check finds them', async () => {
    const [kept, left] = [candidates([workload('kept'), 2n * Mi]), candidates([workload('left'), 3n * Mi])];
    const given: Candidates = {
      ...candidates([workload('web'), Mi]),
      vacant: () => left.usages,
      veto: ({ name }) => (name === 'kept' ? { kind: 'vacant' } : undefined),
    };
    const { out } = await rank(opened({ ...given, usages: [...given.usages, ...kept.usages] }), ...WORKLOADS);
    expect(out).toMatch(/^1 {2}web .*\n\nmemory.available: web would .*\nno process: \/left uses 3MiB\nno process: \/kept uses 2MiB\nno/m);
  });

  test('are all in the JSON output', async () => {
    const report = JSON.parse((await rank(opened(vacant(0n, Mi, undefined)), ...WORKLOADS, '-o', 'json')).out) as unknown;
    expect(report).toMatchObject({
      evictable: true,
      victim: null,
      conclusion: 'nothing is evictable: there is no workload (3 cgroups have no process)',
      workloads: [],
      vacant: [
        { name: 'w1', path: '/w1', workingSetBytes: 1048576, usageBytes: 2097152 },
        { name: 'w0', path: '/w0', workingSetBytes: 0, usageBytes: 1048576 },
        { name: 'w2', path: '/w2', workingSetBytes: null, usageBytes: null },
      ],
    });
  });
});

test('a workload that a process in it protects is not a victim', async () => {
  const given: Candidates = { ...MEMBERS, veto: ({ name }) => (name === 'batch' ? { kind: 'unlisted' } : undefined) };
  const { out } = await rank(opened(given), ...WORKLOADS);
  expect(out).toMatch(/^- {2}batch .* never evicted: its processes, or the units in it, cannot be listed$/m);
  expect(out).toMatch(/^memory.available: web would be evicted first/m);
  expect(JSON.parse((await rank(opened(given), ...WORKLOADS, '-o', 'json')).out)).toMatchObject({ victim: 'web' });
});

test.each([['text'], ['json']])('--limit without --kernel is a usage error (%s)', async (output) => {
  const { error, out } = await rank(opened(MEMBERS), ...WORKLOADS, '--limit', '3', '-o', output);
  expect({ error, out }).toMatchObject({ error: { code: 'EVICTD_USAGE', message: '--limit needs --kernel' }, out: '' });
});

test('a wrong configuration is an error', async () => {
  expect((await rank(opened(), '--eviction-hard', 'nope<1')).error).toBeInstanceOf(ConfigError);
});

test('a signal that does not exist is a usage error', async () => {
  expect(await rank(opened(), '--signal', 'nope')).toMatchObject({ exit: 1, error: { code: 'commander.invalidArgument' } });
});

test('the readings are closed where the candidates cannot be ranked', async () => {
  const given = opened();
  const failing = {
    ...given,
    workloads: {
      ...given.workloads,
      candidates: () => {
        throw new Error('EIO');
      },
    },
  };
  expect((await rank(failing, ...WORKLOADS)).error).toMatchObject({ message: 'EIO' });
  expect(given.closed()).toBe(1);
});

test.each<[rule: string, given: Candidates, cells: Record<string, unknown>]>([
  [
    'an unknown value is null',
    { ...MEMBERS, usages: [{ workload: workload('dark'), stats: undefined }] },
    { workingSetBytes: null, usageBytes: null, aboveRequestBytes: 0, reasons: 'uses an unknown amount, has no request, priority 0' },
  ],
  [
    'a request of half a byte',
    candidates([workload('half', { requests: { ...requesting(0n), memory: 100_500_000_000n } }), 200n]),
    { requestBytes: 100.5, aboveRequestBytes: 99.5 },
  ],
])('a value in JSON: %s', async (_rule, given, cells) => {
  const { out } = await rank(opened(given), ...WORKLOADS, '-o', 'json');
  expect((JSON.parse(out) as { workloads: unknown[] }).workloads[0]).toMatchObject(cells);
});

describe('rank --kernel', () => {
  const cgroupsRead: (string | undefined)[] = [];
  const kernel = (oom: OomReading, ...args: string[]): Promise<Ran> =>
    ran(
      (io) =>
        rankCommand({
          io,
          open: () => opened(MEMBERS),
          readOomKiller: (cgroup) => {
            cgroupsRead.push(cgroup);
            return oom;
          },
        }),
      args,
    );
  const tasks = [
    task(1, 9n, { name: 'systemd' }),
    task(2, 0n, { kernelThread: true, memory: undefined }),
    task(40, 100n, { name: 'postgres', cgroup: '/db' }),
    task(41, 80n, { name: 'java', cgroup: '/batch/x' }),
    task(42, 5n, { name: 'sshd', oomScoreAdj: -1000, oomScore: 0 }),
    task(43, 30n, { name: 'cron' }),
  ];

  test('prints both orders, endangered workloads and exempt processes', async () => {
    const { out, error } = await kernel(oomReading(tasks), ...WORKLOADS, '--kernel');
    expect(error).toBeUndefined();
    expect(`\n${out}`).toBe(`
OOM order of the machine (8GiB, swap included)

#  PID  PROCESS   SCORE  ADJ  MEMORY  POINTS  WORKLOAD
1   40  postgres    700    0  100MiB  100MiB  db
2   41  java        700    0   80MiB   80MiB  batch
3   43  cron        700    0   30MiB   30MiB  (none)

WORKLOAD  EVICTD  KERNEL  FIRST PROCESS
batch          1       2  java 41
db             -       1  postgres 40    critical, but the kernel would kill it 1st: consider oomScoreAdj
web            2       -  -              the kernel kills none of its processes

when memory runs out, the kernel kills postgres (pid 40) of db first; evictd would evict batch
never killed: oom_score_adj -1000: sshd (pid 42); init: systemd (pid 1); 1 kernel thread
`);
  });

  test('prints the same as JSON', async () => {
    const { out } = await kernel(oomReading(tasks), ...WORKLOADS, '--kernel', '-o', 'json', '--limit', '2');
    const report = JSON.parse(out) as { processes: unknown[]; workloads: unknown[] };
    expect(report).toMatchObject({
      domain: { cgroup: null, requested: null, cgroupVersion: 2, totalBytes: 8 * 1024 ** 3 },
      wouldDie: [40],
      processesTotal: 3,
      exemptTotal: 3,
      exempt: [
        { pid: 1, name: 'systemd', reason: 'init' },
        { pid: 42, name: 'sshd', reason: 'unkillable' },
      ],
      workloadsTotal: 3,
    });
    expect(report.processes).toHaveLength(2);
    expect(report.processes[0]).toStrictEqual({
      place: 1,
      pid: 40,
      name: 'postgres',
      oomScore: 700,
      oomScoreAdj: 0,
      pointsBytes: 104857600,
      rssBytes: 104857600,
      swapBytes: 0,
      pageTableBytes: 0,
      cgroup: '/db',
      group: null,
      workload: '/db',
    });
    expect(report.workloads).toMatchObject([
      { name: 'batch', evictdPlace: 1, kernelPlace: 2, byPid: 41, protection: null, endangered: false, remark: null },
      { name: 'db', evictdPlace: null, kernelPlace: 1, byPid: 40, protection: 'critical', endangered: true },
    ]);
  });

  const memcg = { memcg: { cgroup: '/w', totalBytes: 256n * Mi } };
  test.each<[rule: string, oom: OomReading, said: RegExp]>([
    ['there is no process', oomReading([]), /^the machine: the kernel finds no process that it may kill$/m],
    ['--limit lines, and how many more there are', oomReading([...tasks, task(44, 1n)]), /^… and 2 more \(--limit 4 lists all\)$/m],
    [
      'a group dies together',
      oomReading(tasks.map((each) => ({ ...each, group: '/g' }))),
      /kills postgres \(pid 40\) of db and the 2 other processes of its memory.oom.group first/,
    ],
    ['a group in its row', oomReading(tasks.map((each) => ({ ...each, group: '/g' }))), /^1 .* db {8}with all of \/g$/m],
    ['v1 has no groups', oomReading(tasks, { cgroupVersion: 1 }), /^cgroup v1 has no memory.oom.group: /m],
    [
      'the orders are too close to be certain',
      oomReading(tasks, { uncertainBytes: 20n * Mi }),
      /^postgres \(pid 40\) and java \(pid 41\) differ by only 20MiB: the kernel may choose either$/m,
    ],
    [
      'the cgroup has no limit of its own',
      oomReading(tasks, { ...memcg, instead: '/w/a' }),
      /^\/w\/a has no memory limit of its own: .* of memcg \/w$/m,
    ],
    [
      'killing is switched off',
      oomReading(tasks, { ...memcg, settings: { panic: 0, killAllocating: false, killDisabled: true } }),
      /oom_kill_disable is set/,
    ],
    ['a panic', oomReading(tasks, { settings: { panic: 1, killAllocating: false, killDisabled: false } }), /^vm.panic_on_oom is 1: /m],
    [
      'a panic also in a memcg',
      oomReading(tasks, { ...memcg, settings: { panic: 2, killAllocating: false, killDisabled: false } }),
      /^vm.panic_on_oom is 2: /m,
    ],
    [
      'the allocating process is killed',
      oomReading(tasks, { settings: { panic: 0, killAllocating: true, killDisabled: false } }),
      /^vm.oom_kill_allocating_task is set/m,
    ],
    ['a container', oomReading(tasks, { initialPidNamespace: false }), /^in a container: /m],
    ['memory nodes', oomReading(tasks, { boundToNodes: 1 }), /^1 process may use some NUMA nodes only/m],
    ['processes cannot be read', oomReading(tasks, { unreadable: 2 }), /^2 processes could not be read$/m],
  ])('says: %s', async (_rule, oom, said) => {
    const { out, error } = await kernel(oom, ...WORKLOADS, '--kernel', '--limit', '2');
    expect(error).toBeUndefined();
    expect(out).toMatch(said);
  });

  test.each<[rule: string, oom: OomReading, unsaid: RegExp, ...args: string[]]>([
    [
      'a panic of the machine only',
      oomReading(tasks, { ...memcg, settings: { panic: 1, killAllocating: false, killDisabled: false } }),
      /panic/,
    ],
    [
      'two processes of one group are close',
      oomReading(
        tasks.map((each) => ({ ...each, group: '/g' })),
        { uncertainBytes: 20n * Mi },
      ),
      /differ by/,
    ],
    ['far enough apart', oomReading(tasks, { uncertainBytes: 20n * Mi - 1n }), /differ by/],
    ['all processes are listed', oomReading(tasks), /more \(--limit/],
    ['advice that is followed already', oomReading(tasks), /consider/, '--oom-score-adj', 'rank'],
  ])('does not say: %s', async (_rule, oom, unsaid, ...args) => {
    expect((await kernel(oom, ...WORKLOADS, '--kernel', '--limit', '3', ...args)).out).not.toMatch(unsaid);
  });

  test.each<[rule: string, args: string[], conclusion: RegExp]>([
    ['there is no workload source', [], /first; no workload source is configured, so there is no eviction order to compare with$/m],
    ['both orders are the same', WORKLOADS, /\(pid 41\) of batch first; evictd would evict the same workload$/m],
  ])('%s', async (_rule, args, conclusion) => {
    const { out } = await kernel(oomReading(tasks.filter(({ name }) => name !== 'postgres')), ...args, '--kernel');
    expect(out).toMatch(conclusion);
  });

  test.each<[rule: string, args: string[], cgroup: string | undefined]>([
    ['the machine', ['--kernel'], undefined],
    ["the node's cgroup", ['--kernel', '--node-cgroup', '/n'], '/n'],
    ['--memcg wins, and needs no --kernel', ['--memcg', '/w', '--node-cgroup', '/n'], '/w'],
  ])('prints the OOM order of %s', async (_rule, args, cgroup) => {
    cgroupsRead.length = 0;
    expect((await kernel(oomReading(tasks), ...args)).out).toMatch(/^OOM order of/);
    expect(cgroupsRead).toEqual([cgroup]);
  });

  test.each<[rule: string, args: string[], error: object]>([
    ['a signal for another resource', ['--kernel', '-s', 'pid.available'], { code: 'EVICTD_USAGE' }],
    ['a limit of nothing', ['--kernel', '--limit', '0'], { code: 'commander.invalidArgument' }],
    ['a limit that is not a number', ['--kernel', '--limit', 'all'], { code: 'commander.invalidArgument' }],
  ])('refuses %s as a usage error', async (_rule, args, error) => {
    expect((await kernel(oomReading(tasks), ...args)).error).toMatchObject(error);
  });
});

test.each<[place: number, text: string]>([
  [1, '1st'],
  [2, '2nd'],
  [3, '3rd'],
  [4, '4th'],
  [11, '11th'],
  [12, '12th'],
  [13, '13th'],
  [21, '21st'],
  [111, '111th'],
])('the ordinal of %i is %s', (place, text) => {
  expect(ordinal(place)).toBe(text);
});
