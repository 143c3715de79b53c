import { expect, test } from 'vitest';
import { rankCommand } from '../../src/cli/rank.js';
import { ConfigError } from '../../src/errors.js';
import type { Candidates } from '../../src/core/workload.js';
import { Mi, candidates, workload } from '../core/support.js';
import { reading } from './output/support.js';
import { fakeReading, ran, type FakeReading, type Ran } from './support.js';

const MEMBERS: Candidates = {
  ...candidates(
    [workload('web', { requests: { memory: 64n * Mi } }), 32n * Mi],
    [workload('db', { protection: { kind: 'critical' } }), 100n * Mi],
    [workload('batch', { priority: -10, requests: { memory: 64n * Mi } }), 200n * Mi],
  ),
  unreadable: [{ name: 'odd', path: '/w/odd', reason: 'EIO' }],
};
const empty = (...names: string[]): Candidates => ({
  ...candidates(...names.map((name): Parameters<typeof candidates>[number] => [workload(name), 0n])),
  veto: () => ({ kind: 'vacant' }),
});
const WORKLOADS = ['--workload-cgroup', '/w'];

const opened = (given?: Candidates): FakeReading => fakeReading(() => reading({}), given ? { candidates: given } : {});
const rank = (given: FakeReading, ...args: string[]): Promise<Ran> => ran((io) => rankCommand({ io, open: () => given }), args);

test('the order, why, and who is never evicted', async () => {
  const given = opened(MEMBERS);
  const { out, error } = await rank(given, ...WORKLOADS);
  expect(error).toBeUndefined();
  expect(`\n${out}`).toBe(`
#  WORKLOAD  PRIORITY    USES  REQUEST   ABOVE
1  batch          -10  200MiB    64MiB  136MiB
2  db               0  100MiB        -  100MiB  never evicted: critical
3  web              0   32MiB    64MiB       -

memory.available: batch would be evicted first: it uses 200MiB, 136MiB above its request of 64MiB, priority -10
left out: odd: EIO
`);
  expect(given.closed()).toBe(1);
  expect(given.armed).toEqual([]);
});

test('as JSON, every comparator of the order', async () => {
  const { out } = await rank(opened(MEMBERS), ...WORKLOADS, '-o', 'json');
  const report = JSON.parse(out) as { workloads: unknown[] };
  expect(report).toMatchObject({
    signal: 'memory.available',
    node: { name: '/demo', cgroup: '/demo', cgroupVersion: 2 },
    evictable: true,
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
    { name: 'db', protection: 'critical' },
    { name: 'web', aboveRequestBytes: -33554432 },
  ]);
});

test.each<[rule: string, given: Candidates | undefined, args: string[], conclusion: RegExp]>([
  ['no workload source', MEMBERS, [], /^nothing is evictable: no workload source is configured/],
  ['no workload', undefined, WORKLOADS, /^nothing is evictable: there is no workload\n/],
  ['one cgroup, without a process', empty('a'), WORKLOADS, /^nothing is evictable: there is no workload \(1 cgroup has no process\)\n/],
  ['cgroups without a process', empty('a', 'b'), WORKLOADS, /^nothing is evictable: there is no workload \(2 cgroups have no process\)\n/],
  [
    'only protected ones',
    candidates([workload('db', { protection: { kind: 'critical' } }), 1n]),
    WORKLOADS,
    /\n\nnothing is evictable: every workload is protected\n$/,
  ],
  [
    'a signal that no eviction helps',
    MEMBERS,
    [...WORKLOADS, '--signal', 'nodefs.available'],
    /^nodefs.available: no workload is known to give ephemeral-storage back; a threshold sets the condition and evicts nobody\n$/,
  ],
])('%s: said, and no error', async (_rule, given, args, conclusion) => {
  const { out, error } = await rank(opened(given), ...args);
  expect(error).toBeUndefined();
  expect(out).toMatch(conclusion);
});

test('a wrong configuration is an error', async () => {
  expect((await rank(opened(), '--eviction-hard', 'nope<1')).error).toBeInstanceOf(ConfigError);
});

test('a signal that does not exist is a usage error', async () => {
  expect(await rank(opened(), '--signal', 'nope')).toMatchObject({ exit: 1, error: { code: 'commander.invalidArgument' } });
});

test('closed where the candidates cannot be ranked', async () => {
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
