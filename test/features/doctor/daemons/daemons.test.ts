import { describe, expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import {
  checkDaemons,
  type DaemonContext,
  earlyoomLimit,
  nohangLimit,
  otherDaemonsCheck,
} from '../../../../src/features/doctor/checks/daemons.js';
import { loadWritten } from '../../../../src/config/load.js';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import type { CgroupFacts, DaemonFacts } from '../../../../src/host/facts.js';
import { parseOomctl } from '../../../../src/features/doctor/checks/systemd-oomd.js';
import { cgroupFacts, expectCheck, fixture, GIB, hard, memoryFacts, MIB, nodeFacts, unit, workloadFacts } from '../support.js';

const beside: DaemonContext = {
  memory: memoryFacts(),
  cgroup: cgroupFacts(),
  node: nodeFacts(),
  workloads: workloadFacts(),
  service: unit(),
};

function daemon(name: DaemonFacts['name'], facts: Partial<DaemonFacts> = {}): DaemonFacts {
  return { name, pid: 236, unit: `${name}.service`, arguments: [], settings: '', thresholds: undefined, ...facts };
}

const of = (facts: DaemonFacts, at: Partial<DaemonContext> = {}) =>
  checkDaemons({ found: [facts], hidden: undefined }, { ...beside, ...at })[0];

test.each<[rule: string, names: readonly DaemonFacts['name'][], hidden: string | undefined, status: CheckStatus, summary: RegExp]>([
  ['none', [], undefined, 'ok', /^no other eviction daemon runs$/],
  ['two', ['earlyoom', 'kubelet'], undefined, 'ok', /^other eviction daemons: earlyoom, kubelet$/],
  ['some processes are hidden', [], '/proc hides them', 'degraded', /not all processes are visible: \/proc hides them$/],
])('the check daemon.others: %s', (_rule, names, hidden, status, summary) => {
  expectCheck(
    otherDaemonsCheck.judge({ daemons: { found: names.map((name) => daemon(name)), hidden } })[0],
    'daemon.others',
    status,
    summary,
  );
});

test('several daemons of one name have ids of their own', () => {
  const checks = checkDaemons({ found: [daemon('kubelet'), daemon('lmkd'), daemon('kubelet')], hidden: undefined }, beside);
  expect(checks.map(({ id }) => id)).toEqual(['daemon.kubelet', 'daemon.lmkd', 'daemon.kubelet#2']);
});

describe('earlyoom on 8 GiB', () => {
  const swap = { totalBytes: 8n * GIB, swapBytes: GIB };
  const none = { ...swap, swapBytes: 0n };

  test.each<[rule: string, args: readonly string[], bytes: bigint]>([
    ['the default is 10 %', ['-r', '3600'], (8n * GIB) / 10n],
    ['-m', ['-m', '5'], (8n * GIB) / 20n],
    ['-m with the value for SIGKILL', ['-r', '60', '-m', '5,2'], (8n * GIB) / 20n],
    ['-m5', ['-m5'], (8n * GIB) / 20n],
    ['-M in KiB', ['-M', '102400'], 100n * MIB],
    ['the lower of both', ['-m', '50', '-M', '102400'], 100n * MIB],
    ['the lower of both, the other way round', ['-M', '4194304', '-m', '5'], (8n * GIB) / 20n],
  ])('%s', (_rule, args, bytes) => {
    expect(earlyoomLimit(args, none).bytes).toBe(bytes);
  });

  test('waits for swap, too, if there is swap', () => {
    expect(earlyoomLimit([], none).text).not.toMatch(/swap/);
    expect(earlyoomLimit(['-s', '100'], swap).text).toMatch(/low swap \(-s 100\)$/);
  });

  test.each<[rule: string, threshold: string, args: string, status: CheckStatus, summary: RegExp]>([
    [
      "acts first with Debian's arguments",
      '500Mi',
      fixture('earlyoom.cmdline'),
      'degraded',
      /^earlyoom \(process 236 of earlyoom\.service\): it acts .*\(819MiB\), before evictd at memory\.available<500Mi/,
    ],
    ['acts at the same amount as evictd', '100Mi', '/usr/bin/earlyoom\0-M\x00102400\0', 'degraded', /before evictd/],
    ['acts later than evictd', '500Mi', '/usr/bin/earlyoom\0-M\x00102400\0', 'ok', /\(100MiB\), after evictd at memory\.available<500Mi$/],
  ])('%s', (_rule, threshold, cmdline, status, summary) => {
    const node = nodeFacts({ thresholds: hard(`memory.available<${threshold}`) });
    expectCheck(of(daemon('earlyoom', { arguments: cmdline.split('\0').slice(0, -1) }), { node }), 'daemon.earlyoom', status, summary);
  });

  test('acts first if evictd has no hard memory threshold', () => {
    const node = nodeFacts({ thresholds: [] });
    expectCheck(of(daemon('earlyoom'), { node }), 'daemon.earlyoom', 'degraded', /evictd has no hard threshold of memory/);
  });
});

describe('nohang on 8 GiB', () => {
  test.each<[rule: string, config: string, bytes: bigint | undefined]>([
    ['a percentage', '# comment\nsoft_threshold_min_mem = 5 %\nhard_threshold_min_mem = 2 %\n', (8n * GIB) / 20n],
    ['MiB', 'soft_threshold_min_mem = 300 M\n', 300n * MIB],
    ['the limit is not set', 'hard_threshold_min_mem = 2 %\n', undefined],
  ])('%s', (_rule, config, bytes) => {
    expect(nohangLimit(config, memoryFacts())?.bytes).toBe(bytes);
  });

  test.each<[rule: string, settings: DaemonFacts['settings'], status: CheckStatus, summary: RegExp]>([
    ['later than evictd', 'soft_threshold_min_mem = 300 M\n', 'ok', /\(300MiB\), after evictd/],
    ['a file that cannot be read', { unseen: '/etc/nohang/nohang.conf: EACCES' }, 'degraded', /unknown when it acts: .*EACCES/],
    ['a file without it', '', 'degraded', /has no soft_threshold_min_mem/],
  ])('%s', (_rule, settings, status, summary) => {
    expectCheck(of(daemon('nohang', { settings })), 'daemon.nohang', status, summary);
  });
});

describe('systemd-oomd', () => {
  test('is read from the output of oomctl', () => {
    expect(parseOomctl(fixture('oomctl-user'))).toEqual([
      { path: '/evictdtest.slice/evictd-test-a.service', why: 'swap', limit: 'swap used 90.00%' },
      { path: '/', why: 'swap', limit: 'swap used 90.00%' },
      { path: '/evictdtest.slice', why: 'pressure', limit: 'pressure 40.00% for 20s' },
      { path: '/user.slice/user-65534.slice/user@65534.service', why: 'pressure', limit: 'pressure 50.00% for 20s' },
    ]);
  });

  const swap = memoryFacts({ swapBytes: GIB });
  const lives = (...paths: string[]) => workloadFacts({ listed: paths.map((path) => ({ name: path, path, unevictable: undefined })) });
  const watching = daemon('systemd-oomd', { settings: fixture('oomctl') });

  test.each<[rule: string, facts: DaemonFacts, at: Partial<DaemonContext>, status: CheckStatus, summary: RegExp]>([
    [
      'workloads are in a cgroup that it monitors',
      watching,
      { workloads: lives('/evictdtest.slice/a', '/evictdtest.slice/b', '/c') },
      'degraded',
      /\/evictdtest\.slice \(pressure 40\.00% for 20s\), with 2 workloads of evictd/,
    ],
    [
      'workloads are in other cgroups',
      watching,
      { workloads: lives('/batch.slice/a') },
      'ok',
      /monitors \/evictdtest\.slice .*: no workload of evictd is there$/,
    ],
    ['a name with the same beginning', watching, { workloads: lives('/evictdtest.slice2/a') }, 'ok', /no workload/],
    ['watches a part of a workload', watching, { workloads: lives('/evictdtest.slice') }, 'degraded', /with 1 workload of/],
    [
      'watches the whole machine because of swap',
      watching,
      { memory: swap, workloads: lives('/batch.slice/a') },
      'degraded',
      /monitors \/ \(swap used 90\.00%\), with 1 workload of/,
    ],
    ['watches nothing', daemon('systemd-oomd', { settings: '' }), {}, 'ok', /monitors no cgroup/],
    [
      'oomctl fails',
      daemon('systemd-oomd', { settings: { unseen: 'oomctl: ENOENT' } }),
      {},
      'degraded',
      /unknown which cgroups it monitors: oomctl: ENOENT/,
    ],
  ])('%s', (_rule, facts, at, status, summary) => {
    expectCheck(of(facts, at), 'daemon.systemd-oomd', status, summary);
  });
});

describe('a kubelet', () => {
  const of8GiB = nodeFacts({ capacities: new Map([['memory.available', 8n * GIB] as const, ['nodefs.available', 100n * GIB] as const]) });
  const soft = (threshold: string, grace: string): DaemonFacts['thresholds'] =>
    loadWritten({ files: [], flags: {} }, { evictionSoft: [threshold], evictionSoftGracePeriod: [grace] }).config.thresholds.filter(
      ({ gracePeriodNs }) => gracePeriodNs > 0n,
    );
  const V1 = cgroupFacts({ memory: { version: 1, mountPoint: '/sys/fs/cgroup/memory' } });
  const V2 = cgroupFacts();
  const memory = hard('memory.available<500Mi');

  test.each<
    [
      rule: string,
      theirs: DaemonFacts['thresholds'],
      ours: readonly Threshold[],
      cgroup: CgroupFacts,
      status: CheckStatus,
      summary: string | RegExp,
    ]
  >([
    [
      'acts after evictd with its default',
      hard('memory.available<100Mi'),
      [...hard('memory.available<50Mi'), ...memory],
      V2,
      'ok',
      'it acts after evictd at memory.available<100Mi (evictd: 500Mi)',
    ],
    [
      'the same limit on cgroup v2: the kubelet polls',
      memory,
      memory,
      V2,
      'ok',
      'evictd acts first at the same limit memory.available<500Mi: the kubelet looks only every 10 s',
    ],
    [
      'the same limit on cgroup v1: it is notified',
      memory,
      memory,
      V1,
      'degraded',
      'both may act first at memory.available<500Mi: on cgroup v1 the kernel notifies the kubelet, too',
    ],
    ['a percentage is of the capacity', hard('memory.available<10%'), memory, V2, 'degraded', /before .*<10% = 819MiB \(evictd: 500Mi\)$/],
    ['evictd has none for memory', memory, [], V2, 'degraded', 'it acts before evictd at memory.available<500Mi (evictd: none)'],
    ['has no memory threshold', hard('nodefs.available<5%'), memory, V2, 'ok', 'it has no threshold for a signal of evictd'],
    [
      'has other signals, each compared by itself',
      hard('memory.available<500Mi,nodefs.available<20%,pid.available<10%'),
      hard('memory.available<500Mi,nodefs.available<15%,pid.available<10%'),
      V1,
      'degraded',
      'it acts before evictd at nodefs.available<20% = 20GiB (evictd: 15% = 15GiB); ' +
        'both may act first at memory.available<500Mi: on cgroup v1 the kernel notifies the kubelet, too; ' +
        'evictd acts first at the same limit pid.available<10%: the kubelet looks only every 10 s',
    ],
    [
      'limits without a capacity',
      hard('imagefs.available<20%'),
      hard('imagefs.available<15%'),
      V2,
      'ok',
      'not compared, because the capacity is unknown: imagefs.available<20% (evictd: 15%)',
    ],
    [
      'soft against hard',
      soft('memory.available<1Gi', 'memory.available=30s'),
      memory,
      V2,
      'degraded',
      'it acts before evictd at soft memory.available<1Gi (evictd: 500Mi)',
    ],
    [
      'soft against soft: the same limit, a shorter grace period',
      soft('memory.available<1Gi', 'memory.available=30s'),
      [...(soft('memory.available<1Gi', 'memory.available=60s') ?? []), ...memory],
      V2,
      'degraded',
      'it acts before evictd at soft memory.available<1Gi',
    ],
    [
      'soft against soft: the same limit, a longer grace period',
      soft('memory.available<1Gi', 'memory.available=90s'),
      [...memory, ...(soft('memory.available<1Gi', 'memory.available=60s') ?? [])],
      V2,
      'ok',
      'it acts after evictd at soft memory.available<1Gi',
    ],
    [
      'has the copy for its pods, which have all of the node',
      hard('allocatableMemory.available<500Mi'),
      memory,
      cgroupFacts({ pods: { path: '/kubepods', limitBytes: 8n * GIB } }),
      'ok',
      'it has no threshold for a signal of evictd',
    ],
    [
      'has the copy for its pods, which have less than the node, and evictd has none',
      hard('allocatableMemory.available<500Mi'),
      memory,
      cgroupFacts({ pods: { path: '/kubepods', limitBytes: 6n * GIB } }),
      'degraded',
      'it acts before evictd at allocatableMemory.available<500Mi (evictd: none)',
    ],
    ['has unknown thresholds', undefined, memory, V2, 'degraded', 'unknown thresholds'],
  ])('%s', (_rule, theirs, ours, cgroup, status, summary) => {
    const check = of(daemon('kubelet', { thresholds: theirs }), { node: { ...of8GiB, thresholds: ours }, cgroup });
    expectCheck(check, 'daemon.kubelet', status, /^kubelet \(process 236 of kubelet\.service\): /);
    const said = check?.summary.replace(/^.*?\): /, '');
    if (typeof summary === 'string') expect(said).toBe(summary);
    else expect(said).toMatch(summary);
  });

  test('with several limits that are too low has a fix for each', () => {
    const theirs = [...hard('memory.available<1Gi'), ...(soft('nodefs.available<20%', 'nodefs.available=30s') ?? [])];
    const node = { ...of8GiB, thresholds: hard('memory.available<500Mi,nodefs.available<15%') };
    expect(of(daemon('kubelet', { thresholds: theirs }), { node })?.fix).toBe(
      'set evictionHard.memory.available above 1Gi, evictionSoft.nodefs.available above 20% for evictd, or lower the limits of the kubelet',
    );
  });
});

test.each(['oomd', 'lmkd'] as const)('unknown rules of %s', (name) => {
  expectCheck(of(daemon(name)), `daemon.${name}`, 'degraded', /its own rules/);
});
