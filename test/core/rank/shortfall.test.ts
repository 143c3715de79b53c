import { withDisks } from '../../../src/core/rank/candidate-usages.js';
import { describe, expect, test } from 'vitest';
import type { DiskHolding, DiskHoldings } from '../../../src/core/disk/disk-amount.js';
import { protectionText } from '../../../src/core/rank/rank.js';
import { minYield, withoutRelief } from '../../../src/core/rank/shortfall.js';
import type { ResourceSignal } from '../../../src/core/signal/signal.js';
import type { Candidates, WorkloadStats } from '../../../src/core/workload/workload.js';
import { candidates, Gi, Mi, policy, stats, threshold, without, workload } from '../support.js';
import { Timeline } from '../timeline.js';
import { pod } from '../usage.js';

const KiB = 1024n;
const holding = (frees: bigint, inodes = 1n, uses = frees): DiskHolding => ({
  uses: { bytes: uses, inodes },
  frees: { bytes: frees, inodes },
  atNs: 0n,
});

test.each<[rule: string, limit: bigint, available: bigint, least: bigint]>([
  ['a twentieth of what is missing', 1000n, 0n, 50n],
  ['a fraction of a byte counts as one', 1001n, 0n, 51n],
  ['a hundredth of the threshold, when it has just been crossed', 1000n, 999n, 10n],
  ['a twentieth of the missing half, which is more than a hundredth of the threshold', 1000n, 500n, 25n],
  ['something at least', 3n, 2n, 1n],
  ['at least one where nothing is missing any more', 0n, 5n, 1n],
])('the least amount that is worth an eviction: %s', (_rule, limit, available, least) => {
  expect(minYield({ limit, observation: { available, capacity: limit, timeNs: 0n, source: 'test' } })).toBe(least);
});

describe('the workloads whose eviction helps', () => {
  const disks = (nodefs: DiskHolding | 'measuring'): Partial<WorkloadStats> => ({ disks: { nodefs } });
  test.each<[rule: string, signal: ResourceSignal, known: Partial<WorkloadStats>, least: bigint | undefined, because: RegExp | undefined]>([
    ['a workload that frees something', 'nodefs.available', disks(holding(1n)), undefined, undefined],
    [
      'a workload that frees nothing does not help, whatever it uses',
      'nodefs.available',
      disks(holding(0n, 0n, Gi)),
      undefined,
      /free nothing on nodefs/,
    ],
    [
      'a workload with no files on that disk does not help',
      'nodefs.available',
      { disks: { imagefs: holding(1n) } },
      undefined,
      /free nothing on nodefs/,
    ],
    ['a workload that is not measured does not help', 'nodefs.available', {}, undefined, /free nothing on nodefs/],
    ['a workload that is being measured is not known yet', 'nodefs.available', disks('measuring'), 5n, /being measured/],
    ['inodes are not bytes', 'nodefs.inodesFree', disks(holding(Mi, 0n)), undefined, /free nothing on nodefs/],
    ['bytes are not inodes', 'nodefs.available', disks(holding(0n, 9n)), undefined, /free nothing on nodefs/],
    ['memory is another matter', 'memory.available', disks(holding(0n)), 5n, undefined],
    ['a workload that frees just enough', 'nodefs.available', disks(holding(16n)), 16n, undefined],
    ['a workload that frees less does not help', 'nodefs.available', disks(holding(15n)), 16n, /next to nothing on nodefs/],
    ['inodes likewise', 'nodefs.inodesFree', disks(holding(Gi, 1n)), 2n, /next to nothing/],
    ['a workload with enough process ids', 'pid.available', { processes: 3n }, 3n, undefined],
    ['a workload with fewer does not help', 'pid.available', { processes: 2n }, 3n, /too few process ids/],
    ['a workload whose process ids are not known', 'pid.available', {}, 3n, undefined],
    ['any workload helps where nothing is missing', 'pid.available', { processes: 0n }, undefined, undefined],
  ])('%s', (_rule, signal, known, least, because) => {
    const protection = withoutRelief(signal, workload('a'), stats(known), least);
    if (because === undefined) expect(protection).toBeUndefined();
    else expect(protection && protectionText(protection)).toMatch(because);
  });

  test.each<[ResourceSignal]>([['nodefs.available'], ['pid.available']])('include a pod, whose files are deleted with it: %s', (signal) => {
    const { workload: one, stats: known } = pod('p', { stats: { processes: 1n } });
    expect(withoutRelief(signal, one, known, 1000n)).toBeUndefined();
  });
});

describe('a disk full of named files that no workload would free', () => {
  const disk = threshold('nodefs.available', '100Mi');
  const on = (byName: Readonly<Record<string, DiskHoldings>>): Candidates =>
    withDisks(
      candidates(...Object.keys(byName).map((name): Parameters<typeof candidates>[0] => [workload(name), 1n])),
      (path) => byName[path.slice(1)] ?? {},
    );
  const gone = (serial: number): Record<number, object> => ({ [serial]: { processes: 0, usageBytes: 0n } });

  test.each([
    ['full', 0n],
    ['just crossed', 100n * Mi - 4n * KiB],
  ])('with %s causes no eviction for a few KiB', (_rule, available) => {
    const found = on({
      mysqld: { nodefs: holding(16n * KiB, 1n, 100n * Gi) },
      apache: { nodefs: holding(8n * KiB) },
      php: { nodefs: holding(4n * KiB) },
    });
    const timeline = new Timeline(policy([disk]), found);
    const full = { 'nodefs.available': available };
    expect(timeline.effects(0, full)).toEqual(['met nodefs.available', 'DiskPressure=true', 'alert nothing-evictable']);
    expect(timeline.effects(10, full)).toEqual([]);
  });

  test('causes no eviction for one inode', () => {
    const inodes = threshold('nodefs.inodesFree', '50');
    const timeline = new Timeline(policy([inodes]), on({ mysqld: { nodefs: holding(16n * KiB) } }));
    expect(timeline.effects(0, { 'nodefs.inodesFree': 0n })).toContain('alert nothing-evictable');
  });

  test('counts min reclaim that is owed as missing, too', () => {
    const owing = { ...disk, ...threshold('nodefs.available', '100Mi', { minReclaim: '900Mi' }) };
    const some = on({ some: { nodefs: holding(10n * Mi) } });
    const timeline = new Timeline(policy([owing]), on({}));
    timeline.at(0, { 'nodefs.available': 50n * Mi });
    timeline.candidates = some;
    expect(timeline.effects(10, { 'nodefs.available': 110n * Mi })).toEqual([]);
    expect(new Timeline(policy([disk]), some).effects(0, { 'nodefs.available': 50n * Mi })).toContain('evict some grace 0');
  });

  test('is not relieved by one freed byte: no other workload is evicted', () => {
    const found = on({ a: { nodefs: holding(60n * Mi) }, b: { nodefs: holding(50n * Mi) } });
    const timeline = new Timeline(policy([disk]), found);
    expect(timeline.effects(0, { 'nodefs.available': 0n })).toContain('evict a grace 0');
    expect(timeline.effects(0.5, { 'nodefs.available': 1n }, gone(1))).toEqual([]);
    timeline.candidates = on({ b: { nodefs: holding(50n * Mi) } });
    expect(timeline.effects(0.7, { 'nodefs.available': 1n }, gone(1))).toEqual([]);
    expect(timeline.effects(2, { 'nodefs.available': 1n }, gone(1))).toEqual(['killed a 0Mi', 'alert no-yield']);
    expect(timeline.effects(20, { 'nodefs.available': 51n * Mi }, gone(1))).toEqual([]);
    expect(timeline.effects(30, { 'nodefs.available': 51n * Mi }, gone(1))).toEqual(['evict b grace 0']);
  });

  test('causes the eviction of the workload that frees most, not of the one that uses most', () => {
    const found = on({ db: { nodefs: holding(20n * Mi, 1n, 100n * Gi) }, log: { nodefs: holding(60n * Mi) } });
    expect(new Timeline(policy([disk]), found).effects(0, { 'nodefs.available': 0n })).toContain('evict log grace 0');
  });
});

describe('process ids that programs outside the workloads hold', () => {
  const pids = threshold('pid.available', '400');
  const small: Candidates = { ...candidates([workload('a'), 1n], [workload('b'), 1n]), processes: () => new Map([['id-a', 19n]]) };
  const said = (departures = policy([]).departures): string[] =>
    new Timeline(policy([pids], { departures }), small).effects(0, { 'pid.available': 0n });

  test('cause no eviction of a workload that has almost none', () => {
    const of = { ...small, processes: () => new Map([...['id-a', 'id-b'].map((id): [string, bigint] => [id, 19n])]) };
    expect(new Timeline(policy([pids]), of).effects(0, { 'pid.available': 0n })).toContain('alert nothing-evictable');
    const more = { ...small, processes: () => new Map([...['id-a', 'id-b'].map((id): [string, bigint] => [id, 20n])]) };
    expect(new Timeline(policy([pids]), more).effects(0, { 'pid.available': 0n })).toContain('evict a grace 0');
  });

  test('may cause the eviction of a workload with an unknown number; without no-yield, of the one with most', () => {
    expect(said()).toContain('evict b grace 0');
    expect(said(without('no-yield'))).toContain('evict a grace 0');
  });
});
