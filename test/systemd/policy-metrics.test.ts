import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMPARATORS, type Comparator } from '../../src/core/policy/configured-policy.js';
import { METRIC_NAMES } from '../../src/core/policy/metric.js';
import { Evictd, type JournalLine } from '../e2e/evictd.js';
import { MIB, workload, type Workload } from '../e2e/node.js';
import { until } from '../e2e/wait.js';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { SLOWNESS } from '../support/slowness.js';
import { hasSystemd, property, systemd } from '../support/systemd.js';
import { Scene } from './scene.js';
import { zramSwap } from './zram.js';

// Every metric of a condition and every comparator, on a real kernel: what a cgroup does is bounded from both sides, so
// that each row needs one comparison that is true and one that is false, and none that is not known.

const isV2 = memoryController()?.version === 2;
const DISK = '/dev/vda';
const SHM = '/dev/shm/evictd-test-metrics';
const PRINTK = '/proc/sys/kernel/printk';
const LIMIT_MS = 60_000;

type Bounds = readonly [metric: string, above: string, notAbove: string];

const between = ([metric, above, notAbove]: Bounds): string => `${metric} > ${above} & !(${metric} > ${notAbove})`;
const PRESSURES = ['', '.avg10', '.avg60', '.avg300'];
const pressure = (resource: string, kind: string, least: string): readonly Bounds[] =>
  PRESSURES.map((average) => [`${resource}.pressure.${kind}${average}`, average === '.avg300' ? '0.01%' : least, '99.9%']);

/** By cgroup: what is so of it. */
const OF_CGROUPS: Readonly<Record<string, readonly (Bounds | string)[]>> = {
  holder: [
    ['memory.current', '55Mi', '200Mi'],
    ['memory.anon', '40Mi', '55Mi'],
    ['memory.shmem', '15Mi', '18Mi'],
    ['memory.max', '399Mi', '400Mi'],
    ['memory.high', '299Mi', '300Mi'],
    ['memory.low', '19Mi', '20Mi'],
    ['memory.min', '9Mi', '10Mi'],
    ['memory.swap.max', '99Mi', '100Mi'],
    ['memory.request', '19Mi', '20Mi'],
    ['processes', '0', '1'],
    ['age', '1s', '30m'],
    'memory.current > 10% of limit & !(memory.current > 50% of limit)',
    'memory.current > 250% of request & !(memory.current > 1000% of request)',
    'memory.max exists & !(memory.boundNodes.available exists)',
  ],
  churn: [
    ['memory.swap', '10Mi', '64Mi'],
    ['pgscan', '10/s over 4s', '10000000/s over 4s'],
    ['pgsteal', '10/s over 4s', '10000000/s over 4s'],
    ['workingset_refault', '10/s over 4s', '10000000/s over 4s'],
    ['memory.events.high', '1 over 4s', '10000000 over 4s'],
    ...pressure('memory', 'some', '1%'),
    ...pressure('memory', 'full', '1%'),
  ],
  reader: [
    ['io.bytes', '100Ki/s over 4s', '100Gi/s over 4s'],
    ['io.operations', '20/s over 4s', '10000000/s over 4s'],
    ['io.cost', '5/s over 4s', '5000000/s over 4s'],
    ...pressure('io', 'some', '1%'),
    ...pressure('io', 'full', '1%'),
  ],
  spin: [...pressure('cpu', 'some', '1%'), ...pressure('cpu', 'full', '1%')],
  grower: [
    ['memory.growth', '100Ki/s over 4s', '500Mi/s over 4s'],
    ['memory.growth', '200Ki over 4s', '2Gi over 4s'],
    ['memory.growth', '0.1% over 4s', '1000% over 4s'],
    ['memory.anon.growth', '100Ki/s over 4s', '500Mi/s over 4s'],
    'memory.current rising over 6s & !(memory.current falling over 6s) & !(memory.max exists)',
  ],
  shrinker: ['memory.current falling over 6s & !(memory.current rising over 6s)'],
  'swap-grower': [['memory.swap.growth', '50Ki/s over 4s', '500Mi/s over 4s']],
  limited: [
    ['memory.events.max', '0 over 4s', '10000000 over 4s'],
    ['memory.events.oom', '0 over 4s', '10000000 over 4s'],
    ['memory.events.oom_kill', '0 over 4s', '10000000 over 4s'],
  ],
  'tight/low': [
    ['memory.file', '5Mi', '60Mi'],
    ['memory.events.low', '0 over 4s', '10000000 over 4s'],
  ],
  dying: [['descendants.dying', '0', '1']],
};

const OF_NODE: readonly (Bounds | string)[] = [
  ['memory.current', '100Mi', '64Gi'],
  ['memory.anon', '50Mi', '64Gi'],
  ['memory.file', '10Mi', '64Gi'],
  ['memory.shmem', '15Mi', '64Gi'],
  ['memory.swap', '10Mi', '400Mi'],
  ['memory.total', '3Gi', '5Gi'],
  ['swap.total', '350Mi', '400Mi'],
  ['memory.swap.growth', '10Ki/s over 4s', '1Gi/s over 4s'],
  ['memory.anon.growth', '10Ki/s over 4s', '1Gi/s over 4s'],
  ['memory.available', '1%', '99%'],
  ['memory.kernelAvailable', '1%', '99%'],
  ['nodefs.available', '0.1%', '99.9%'],
  ['nodefs.inodesFree', '0.1%', '99.9%'],
  ['pid.available', '1%', '99.99%'],
  ['swap.available', '1%', '99%'],
  // /proc/vmstat counts reclaim for the whole machine only, and not that of limits of cgroups: here it is known, and small.
  '!(pgscan > 10000000/s over 4s) & !(pgsteal > 10000000/s over 4s)',
  ['workingset_refault', '10/s over 4s', '10000000/s over 4s'],
  ['pswpout', '1/s over 4s', '10000000/s over 4s'],
  ['memory.events.oom_kill', '0 over 4s', '10000000 over 4s'],
  ...['memory', 'io', 'cpu'].flatMap((resource) => pressure(resource, 'some', '0.1%')),
  // Where anything runs, not all tasks of the machine stall: known, and bounded.
  ...['memory', 'io'].flatMap((resource) => PRESSURES.map((average) => `!(${resource}.pressure.full${average} > 99.9%)`)),
  '!(cpu.pressure.full.avg10 > 0.1%)',
];

/** Comparators with the workload that comes first. */
const FIRST: Readonly<Record<Comparator, string>> = {
  size: 'shm',
  anon: 'large',
  growth: 'grower',
  swap: 'cold',
  pgscan: 'churn',
  pressure: 'churn',
  io: 'reader',
  priority: 'idle',
  oom_score: 'doomed',
};

/** Other tests have them: memory nodes (systemd/memory-nodes), allocatable and filesystems of a runtime (e2e/policies). */
const ELSEWHERE = [
  'memory.boundNodes.used',
  'allocatableMemory.available',
  'memory.boundNodes.available',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
];

const PERL = {
  /** 1 MiB in so many seconds, for minutes. */
  grow: 'my @held; while (@held < 500) { push @held, "x" x (1 << 20); select undef, undef, undef, $ARGV[0] } sleep while 1',
  shrink: 'my @held = map { "x" x (1 << 20) } 1 .. 300; while (@held > 1) { pop @held; select undef, undef, undef, .5 } sleep while 1',
  hold: 'my @held = map { "x" x (1 << 20) } 1 .. shift; sleep while 1',
  churn: 'my $held = "x" x ($ARGV[0] << 20); for (;;) { for (my $at = 0; $at < length $held; $at += 4096) { substr $held, $at, 1, "y" } }',
};

const SHELL = {
  read: `while :; do dd if=${DISK} of=/dev/null bs=4k count=500 iflag=direct 2>/dev/null; sleep .1; done`,
  scan: `while :; do dd if=${DISK} of=/dev/null bs=1M 2>/dev/null; done`,
  spin: 'while :; do :; done',
  fail: 'while :; do tail /dev/zero; sleep 1; done 2>/dev/null',
  write: (mib: number): string => `head -c ${String(mib)}M /dev/zero > ${SHM}/$0`,
};

/** Each OOM kill is a hundred lines, and an emulated serial console stops the machine for them. */
function quietConsole(): void {
  const before = readFileSync(PRINTK, 'utf8');
  writeFileSync(PRINTK, '1');
  onTestFinished(() => {
    writeFileSync(PRINTK, before);
  });
}

describe.runIf(isV2 && hasSystemd)('metrics and comparators of policies on a real kernel (cgroup v2, needs systemd)', () => {
  /** Cgroups that do what the tables say of them. */
  async function situation(): Promise<TestCgroup> {
    zramSwap(400);
    quietConsole();
    mkdirSync(SHM);
    const root = testCgroup();
    onTestFinished(async () => {
      await root.cleanup();
      rmSync(SHM, { recursive: true, force: true });
    });
    const flat = root.child('flat');
    for (const { dir } of [{ dir: '/sys/fs/cgroup' }, root, flat]) writeFileSync(`${dir}/cgroup.subtree_control`, '+io +cpu');
    root.write('cpu.weight', '1'); // evictd goes first
    const made = (name: string, files: Readonly<Record<string, string>> = {}): TestCgroup => {
      const cgroup = flat.child(name);
      for (const [file, text] of Object.entries(files)) cgroup.write(file, text);
      return cgroup;
    };
    const perl = (cgroup: TestCgroup, program: string, ...args: readonly string[]) =>
      cgroup.spawn('env', ['MALLOC_MMAP_THRESHOLD_=65536', 'perl', '-e', program, ...args]);
    const sh = (cgroup: TestCgroup, script: string, name = 'sh') => cgroup.spawn('/bin/sh', ['-c', script, name]);

    const limits = { 'memory.max': '400M', 'memory.high': '300M', 'memory.low': '20M', 'memory.min': '10M', 'memory.swap.max': '100M' };
    const holder = made('holder', limits);
    await (
      await sh(holder, SHELL.write(16), 'holder')
    ).ended;
    await perl(holder, PERL.hold, '40');
    await perl(made('churn', { 'memory.high': '32M', 'cpu.weight': '1000' }), PERL.churn, '64');
    await perl(made('cold', { 'memory.high': '16M' }), PERL.hold, '160');
    await perl(made('swap-grower', { 'memory.high': '16M', 'memory.swap.max': '120M' }), PERL.grow, '2');
    // Also beside the churn at least a unit of its rate: less counts as nothing.
    await perl(made('grower', { 'memory.swap.max': '0', 'cpu.weight': '10000' }), PERL.grow, '.5');
    await perl(made('shrinker', { 'memory.swap.max': '0' }), PERL.shrink);
    const large = made('large', { 'memory.swap.max': '0' });
    await perl(large, PERL.hold, '600');
    const shm = made('shm', { 'memory.swap.max': '0' });
    await (
      await sh(shm, SHELL.write(750), 'shm')
    ).ended;
    await sh(shm, 'exec sleep 600');
    await until('it holds its memory', () => Number(large.read('memory.current')) > 600 * MIB, undefined, LIMIT_MS);
    await sh(made('reader', { 'cpu.weight': '1000' }), SHELL.read);
    await sh(made('spin', { 'cpu.max': '50000 100000' }), SHELL.spin);
    // Its memory comes and goes with each failure: less than the grower grows by between two readings.
    await sh(made('limited', { 'memory.max': '6M', 'memory.swap.max': '0' }), SHELL.fail);
    const device = readFileSync('/sys/class/block/vda/dev', 'utf8').trim();
    const tight = made('tight', { 'memory.max': '40M', 'memory.swap.max': '0', 'io.max': `${device} rbps=${String(MIB)}` });
    const low = tight.child('low');
    low.write('memory.low', '200M');
    await sh(low, SHELL.scan);
    const dying = made('dying');
    const removed = dying.child('removed');
    await (
      await sh(removed, `head -c 1M /dev/zero > ${SHM}/$0`, 'dying')
    ).ended;
    await removed.cleanup();
    await sh(made('idle'), 'exec sleep 600');
    const doomed = await sh(made('doomed'), 'exec sleep 600');
    writeFileSync(`/proc/${String(doomed.pid)}/oom_score_adj`, '900');
    return root;
  }

  /** A policy for each text. */
  const policiesOf = (rows: readonly (Bounds | string)[], cgroup?: string) =>
    rows.map((row, index) => ({
      name: `${cgroup === undefined ? 'node' : cgroup.slice(cgroup.lastIndexOf('/') + 1)}-${String(index)}`,
      ...(cgroup !== undefined && { scope: { cgroup } }),
      when: typeof row === 'string' ? row : between(row),
      then: ['notify'],
      cooldown: '24h',
    }));

  const acted = (lines: readonly JournalLine[]): ReadonlySet<unknown> =>
    new Set(lines.flatMap(({ type, event, policy }) => (type === 'policy' && event === 'act' ? [policy] : [])));

  test(
    'are each true and false as the kernel counts, and each comparator chooses by its own value',
    async () => {
      const root = await situation();
      const flat = `${root.path}/flat`;
      const holder = `cgroup(${flat}/holder)`;
      const named = [
        `${holder}.memory.current > 55Mi & !(${holder}.memory.current > 200Mi)`,
        `${holder} exists & (!(cgroup(${flat}/none) exists) | ${holder}.memory.current > 4Gi)`,
      ];
      const policies = [
        ...Object.entries(OF_CGROUPS).flatMap(([name, rows]) => policiesOf(rows, `${flat}/${name}`)),
        ...policiesOf([...OF_NODE, ...named]),
      ];
      const common = { evictionHard: { 'memory.available': '1Mi' }, workloads: [{ cgroup: flat }], monitoringInterval: '1s' };
      const evictd = new Evictd({ config: { ...common, policies } });
      const missing = (): string[] => {
        const seen = acted(evictd.journal());
        return policies.flatMap(({ name, when }) => (seen.has(name) ? [] : [`${name}: ${when}`]));
      };
      const isOver = async (): Promise<boolean> => {
        await pause(1000); // the machine has other things to do
        return missing().length === 0;
      };
      await evictd.until('each policy has acted', isOver, 4 * LIMIT_MS).catch((error: unknown) => {
        throw new Error(`${missing().join('\n')}\n${String(error)}`, { cause: error });
      });
      expect(await evictd.stop()).toBe(0);

      const choices = COMPARATORS.map((by, index) => ({
        name: by.replace('_', '-'),
        scope: { cgroup: flat },
        when: `memory.current > ${String(index + 1)}Mi`,
        for: '6s', // rates need two readings that are some seconds apart
        cooldown: '24h',
        then: [{ kill: { by: [by] } }],
      }));
      const free = { evictionBudget: { max: 50, window: '10m' }, departures: { 'node-yield': false } };
      const rules = [{ match: { name: 'idle' }, priority: -5 }];
      const dry = new Evictd({ config: { ...common, ...free, rules, policies: choices }, args: ['--dry-run'] });
      const chosen = (): Record<string, unknown> =>
        Object.fromEntries(
          dry.journal().flatMap((line) => {
            const { type, event, action, policy, target } = line as JournalLine & { target?: { name: string } };
            return type === 'policy' && event === 'result' && action === 'kill' ? [[String(policy).replace('-', '_'), target?.name]] : [];
          }),
        );
      await dry.until('each policy has chosen', () => Object.keys(chosen()).length === COMPARATORS.length, 2 * LIMIT_MS);
      expect(chosen()).toEqual(FIRST);
    },
    8 * LIMIT_MS * SLOWNESS,
  );

  test('with recursive choose the best child first, and in it the best, and otherwise the best of all', async () => {
    const root = testCgroup();
    onTestFinished(() => root.cleanup());
    const [a, b] = [root.child('a'), root.child('b')];
    await workload(a.child('a1'), { holdsMib: 40 });
    await workload(a.child('a2'), { holdsMib: 50 });
    await workload(b.child('b1'), { holdsMib: 70 });
    const policies = [true, false].map((recursive) => ({
      name: recursive ? 'recursive' : 'flat',
      scope: { cgroup: root.path },
      when: `memory.current > ${recursive ? '1' : '2'}Mi`,
      cooldown: '24h',
      then: [{ kill: { by: ['size'], recursive } }],
    }));
    const workloads = [{ cgroup: a.path }, { cgroup: b.path }];
    const evictd = await new Evictd({
      config: { evictionHard: { 'memory.available': '1Mi' }, workloads, policies },
      args: ['--dry-run'],
    }).guarding();
    const chosen = (): unknown[] =>
      evictd
        .journal()
        .flatMap(({ type, policy, victim }) =>
          type === 'decision' ? [[(policy as { name: string }).name, (victim as { name: string }).name]] : [],
        );
    await evictd.until('both have chosen', () => chosen().length === 2);
    expect(chosen().toSorted()).toEqual([
      ['flat', 'b1'],
      ['recursive', 'a2'],
    ]);
  });

  test('with unit: process end all of a cgroup with memory.oom.group, and the rest of its workload continues', async () => {
    const root = testCgroup();
    onTestFinished(() => root.cleanup());
    const web = root.child('web');
    const main = web.child('main');
    main.write('memory.oom.group', '1');
    const inMain = [await workload(main, { holdsMib: 60 }), await workload(main, { holdsMib: 5 })];
    const side = await workload(web.child('side'), { holdsMib: 20, growsMib: 60 });
    const policies = [
      { name: 'desktop', scope: { cgroup: root.path }, when: 'memory.current > 50Mi', then: [{ kill: { by: ['size'], unit: 'process' } }] },
    ];
    const config = { evictionHard: { 'memory.available': '1Mi' }, workloads: [{ cgroup: root.path }], policies };
    const evictd = await new Evictd({ config: { ...config, departures: { 'node-yield': false } } }).guarding();
    const outcome = await evictd.recorded('outcome');
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'web', process: { group: { path: main.path } } } });
    expect(Number(outcome.freedBytes)).toBeGreaterThan(60 * MIB);
    expect(await Promise.all(inMain.map(({ ended }: Workload) => ended))).toEqual(['SIGKILL', 'SIGKILL']);
    expect(side.alive).toBe(true);
    side.grow(); // the next one is alone
    expect(await side.ended).toBe('SIGKILL');
    await evictd.until('it is named alone', () =>
      evictd.log.some(({ msg }) => msg.startsWith(`evicting perl (${String(side.pid)}) of web with SIGKILL`)),
    );
  });

  test('have the age of a unit from systemd, whatever was made below its cgroup', async () => {
    const scene = new Scene();
    const unit = scene.service('aged', '/bin/sleep infinity', { Delegate: 'yes' });
    scene.start(unit);
    const startedUs = Number(property(unit, 'ActiveEnterTimestampMonotonic'));
    await pause(4000);
    const path = property(unit, 'ControlGroup');
    mkdirSync(`/sys/fs/cgroup${path}/below`); // renews the change time of the directory
    const beforeSeconds = Number(process.hrtime.bigint()) / 1e9 - startedUs / 1e6;
    systemd('chown', 'nobody', `/sys/fs/cgroup${path}`);
    const policies = [path, `/${scene.slice}`].map((cgroup, index) => ({
      name: `aged-${String(index)}`,
      scope: { cgroup },
      when: 'age > 1s',
      cooldown: '24h',
      then: ['notify'],
    }));
    const evictd = await new Evictd({ config: { evictionHard: { 'memory.available': '1Mi' }, policies } }).guarding();
    await evictd.until('both are judged', () => acted(evictd.journal()).size === 2);
    const ages = evictd
      .journal()
      .flatMap(({ type, event, values }) => (type === 'policy' && event === 'act' ? [(values as { age: number }).age] : []));
    for (const age of ages) expect(age).toBeGreaterThan(beforeSeconds);
  });
});

test('each metric and each comparator is tried', () => {
  const texts = [...Object.values(OF_CGROUPS).flat(), ...OF_NODE].map((row) => (typeof row === 'string' ? row : between(row)));
  const tried = new Set(texts.flatMap((text) => [...text.matchAll(/[a-zA-Z_]+(?:\.[a-zA-Z_0-9]+)*/g)].map(([word]) => word)));
  expect(METRIC_NAMES.filter((name) => !tried.has(name))).toEqual(ELSEWHERE.filter((name) => !tried.has(name)));
  expect(Object.keys(FIRST).toSorted()).toEqual([...COMPARATORS].toSorted());
});
