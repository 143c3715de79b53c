import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, scratchDirectory, victimOf, type JournalLine } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { until } from '../e2e/wait.js';
import { memoryController } from '../support/cgroup.js';
import { SLOWNESS } from '../support/slowness.js';
import { hasSwap } from '../support/swap.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { holding, kernelKills, leave, LEAKING, usage, used } from './scene.js';
import { ScopeUnit } from './scope-unit.js';
import { TestUser } from './test-user.js';
import { zramSwap } from './zram.js';

// Each configuration of docs/policy-recipes.md as it is there, in the situation that it is for. Only the hours of the
// leak detector are seconds here.

/** By the heading above it. */
const recipes = new Map(
  [...readFileSync('docs/policy-recipes.md', 'utf8').matchAll(/^## (.*)\n[^]*?^```yaml\n([^]*?)^```/gm)].map(
    ([, heading = '', yaml = '']) => [heading, yaml],
  ),
);
const DIRECTORY = '/var/tmp/evictd-test-recipes';
const PRUNE = '/usr/local/sbin/prune-runner-caches';
/** A recipe takes a minute, most of it its own times. */
const LIMIT_MS = 60_000;
const isV2 = memoryController()?.version === 2;

/** Holds MiB, and reads a file again and again, each piece twice: the kernel then keeps it as long as it can, and misses it later. */
const READER = `my @held = map { "x" x (1 << 20) } 1 .. $ARGV[1];
  open my $file, '<', $ARGV[0] or die;
  for (;;) {
    sysseek $file, 0, 0;
    while (my $read = sysread $file, my $block, 1 << 20) { sysseek $file, -$read, 1; sysread $file, $block, 1 << 20 }
  }`;
/** Holds memory, and uses all of it in turns. */
const CHURN =
  'my $held = "x" x ($ARGV[0] << 20); for (;;) { for (my $at = 0; $at < length $held; $at += 4096) { substr $held, $at, 1, "y" } }';

type Settings = Readonly<Record<string, string>>;

describe.runIf(hasSystemd && isV2)(`recipes of policies (${ON}, ${hasSwap ? 'with' : 'without'} swap; needs systemd)`, () => {
  const units = new TestUnits(/^((build|batch|ci|app)\.slice|(batch|database|nightly)-evictd-test\.service|runner@\.service)$/);
  beforeEach(() => {
    mkdirSync(DIRECTORY, { recursive: true });
    onTestFinished(() => {
      units.remove();
      rmSync(DIRECTORY, { recursive: true, force: true });
    });
    writeFileSync(join(DIRECTORY, 'reader.pl'), READER);
    writeFileSync(join(DIRECTORY, 'churn.pl'), CHURN);
  });

  /** A file on the disk, with content. */
  const data = (mib: number): string => {
    const path = join(DIRECTORY, `data-${String(mib)}`);
    if (!existsSync(path)) systemd('dd', 'if=/dev/zero', `of=${path}`, 'bs=1M', `count=${String(mib)}`, 'conv=fsync', 'status=none');
    writeFileSync('/proc/sys/vm/drop_caches', '1'); // its pages belong to the cgroup of this test
    return path;
  };
  const reading = (mib: number, held = 0): string => `/usr/bin/perl ${DIRECTORY}/reader.pl ${data(mib)} ${String(held)}`;
  const churning = (mib: number): string => `/usr/bin/perl ${DIRECTORY}/churn.pl ${String(mib)}`;

  /** Starts services by name. */
  const services = (
    of: Readonly<Record<string, readonly [execStart: string, settings: Settings]>>,
    slices: Readonly<Record<string, Settings>> = {},
  ) => {
    units.writeAll({
      ...Object.fromEntries(Object.entries(slices).map(([name, settings]) => [name, { Slice: settings }])),
      ...Object.fromEntries(
        Object.entries(of).map(([name, [ExecStart, settings]]) => [name, { Service: { OOMPolicy: 'continue', ExecStart, ...settings } }]),
      ),
    });
    units.start(...Object.keys(slices), ...Object.keys(of));
  };
  const active = (unit: string): boolean => property(unit, 'ActiveState') === 'active';

  const following = (recipe: string, adapt = (text: string): string => text): Promise<Evictd> => {
    const directory = scratchDirectory();
    mkdirSync(join(directory, 'config.d'));
    writeFileSync(join(directory, 'config.d', 'recipe.yaml'), adapt(recipes.get(recipe) ?? ''), { mode: 0o600 });
    return new Evictd({ config: { evictionHard: { 'memory.available': '100Mi' } }, directory }).guarding();
  };

  /** What the policy has done, without what it has given back. */
  const done = (lines: readonly JournalLine[]): string[] =>
    lines.flatMap((line) => {
      const { type, event, action, result } = line;
      if (type === 'decision') return [`evict ${victimOf(line) ?? ''}`];
      if (type === 'outcome') return [String(result)];
      if (type !== 'policy' || event !== 'result' || action === 'thaw' || action === 'unthrottle') return [];
      return [`${String(action)} ${String(result)}`];
    });
  /**
   * Waits for the end of a ladder and of its evictions, and seldom looks: the machine waits for memory, and not for
   * this. A ladder ends before its last step where a dying victim has already freed enough.
   */
  const after = async (evictd: Evictd): Promise<string[]> => {
    const isOver = (lines: readonly JournalLine[]): boolean => {
      const count = (of: string): number => lines.filter(({ type }) => type === of).length;
      return lines.some(({ type, event }) => type === 'policy' && event === 'end') && count('outcome') >= count('decision');
    };
    const circumstances = (): string =>
      evictd
        .journal()
        .map(({ message }) => message)
        .join('\n');
    await until(
      'the ladder has ended',
      async () => {
        await pause(1000);
        return isOver(evictd.journal());
      },
      circumstances,
      LIMIT_MS,
    );
    return done(evictd.journal());
  };

  const recipe = (name: string, run: () => Promise<void>): void => {
    test(
      name,
      async () => {
        const before = kernelKills();
        await run();
        expect(kernelKills()).toBe(before);
      },
      2 * LIMIT_MS * SLOWNESS,
    );
  };

  describe.skipIf(hasSwap)('a machine without swap', () => {
    recipe('Build server: the build that grows is throttled, then ended; the other one finishes', async () => {
      const build = (exec: string) => [exec, { Slice: 'build.slice' }] as const;
      services(
        { 'evictd-test-cc.service': build(holding(20)), 'evictd-test-ld.service': build(LEAKING) },
        { 'build.slice': { MemoryHigh: '400M' } },
      );
      const evictd = await following('Build server');
      leave(450);
      expect(await after(evictd)).toEqual(['throttle done', 'evict evictd-test-ld.service', 'killed', 'kill done']);
      expect(active('evictd-test-cc.service')).toBe(true);
    });

    recipe('Database with a cache: services give back what is above their requests, then the least important one stops', async () => {
      services({
        'batch-evictd-test.service': [`/bin/sh -c 'head -c 280M /dev/zero | tail -c 280M | sleep infinity'`, {}],
        'database-evictd-test.service': [reading(800), {}],
      });
      const evictd = await following('Database with a cache');
      leave(600);
      const [reclaim, ...then] = await after(evictd);
      expect(reclaim).toMatch(/^reclaim /);
      expect(then).toEqual(['evict batch-evictd-test.service', 'killed', 'stop done']);
      expect(active('database-evictd-test.service')).toBe(true);
    });

    recipe('Desktop: the process with the highest oom_score ends, not the largest, not its application, and not the session', async () => {
      const user = new TestUser(1996);
      onTestFinished(() => {
        user.remove();
      });
      const app = { Slice: 'app.slice' };
      user.run('evictd-test-editor', app, '/bin/sh', '-c', 'head -c 360M /dev/zero | tail -c 360M | sleep infinity');
      const tab = { ...app, MemoryHigh: '300M', OOMScoreAdjust: '900' };
      user.run('evictd-test-tab', tab, '/bin/sh', '-c', 'tail /dev/zero & wait; exec sleep infinity');
      const apps = ['editor', 'tab'].map((name) => `${user.manager}/app.slice/evictd-test-${name}.service`);
      await until('both hold their memory', () => apps.every((path) => usage(path) > 290 << 20), undefined, LIMIT_MS);
      const evictd = await following('Desktop');
      leave(300);
      // The answer to the first step may come after the signal of the second.
      expect((await after(evictd)).toSorted()).toEqual(['evict evictd-test-tab.service', 'killed', 'notify done', 'stop done']);
      expect(await evictd.recorded('decision')).toMatchObject({ victim: { process: { command: 'tail' } } });
      expect(['editor', 'tab'].map((name) => user.isActive(`evictd-test-${name}.service`))).toEqual([true, true]);
    });

    recipe('CI runners: the runner at its limit is cleaned up, then stopped; another one goes on', async () => {
      writeFileSync(PRUNE, `#!/bin/sh\necho "$EVICTD_POLICY $EVICTD_SCOPE" > ${DIRECTORY}/pruned\n`);
      chmodSync(PRUNE, 0o755);
      onTestFinished(() => {
        rmSync(PRUNE, { force: true });
      });
      units.writeAll({
        'ci.slice': { Slice: {} },
        'runner@.service': {
          Service: {
            Slice: 'ci.slice',
            MemoryMax: '400M',
            ExecStart: `/bin/sh -c '[ %i = idle ] || exec ${reading(100, 350)}; exec sleep infinity'`,
          },
        },
      });
      units.start('runner@busy.service', 'runner@idle.service');
      const evictd = await following('CI runners');
      expect(await after(evictd)).toEqual(['run done', 'evict runner@busy.service', 'killed', 'stop done']);
      expect(readFileSync(join(DIRECTORY, 'pruned'), 'utf8')).toBe('ci-runners /ci.slice/runner@busy.service\n');
      expect(active('runner@idle.service')).toBe(true);
    });

    recipe('Memory-hungry cron jobs: the job is frozen, then stopped', async () => {
      services({ 'nightly-evictd-test.service': [holding(1100), {}] });
      await until('it holds its memory', () => used('nightly-evictd-test.service') > 1100 << 20, undefined, LIMIT_MS);
      const evictd = await following('Memory-hungry cron jobs');
      leave(600);
      const frozen = '/sys/fs/cgroup/system.slice/nightly-evictd-test.service/cgroup.freeze';
      await evictd.until('it is frozen', () => readFileSync(frozen, 'utf8') === '1\n', LIMIT_MS);
      expect((await after(evictd)).slice(0, 3)).toEqual(['freeze done', 'evict nightly-evictd-test.service', 'killed']);
    });

    recipe('Containers beside services: the container that makes the kernel scan ends', async () => {
      const id = (digit: string): string => digit.repeat(64);
      const busy = new ScopeUnit(`docker-${id('a')}.scope`, { MemoryHigh: '300M' }, '/usr/bin/tail', '/dev/zero');
      const calm = new ScopeUnit(`docker-${id('b')}.scope`, {}, '/bin/sh', '-c', 'head -c 80M /dev/zero | tail -c 80M | sleep infinity');
      services({ 'evictd-test-db.service': ['/bin/sleep infinity', {}] });
      const evictd = await following('Containers beside services');
      leave(450);
      const [reclaim, ...then] = await after(evictd);
      expect(reclaim).toMatch(/^reclaim /);
      expect(then).toEqual([`evict ${busy.name}`, 'killed', 'kill done']);
      expect([calm.name, 'evictd-test-db.service'].map(active)).toEqual([true, true]);
    });

    recipe('Thrashing without bytes missing: the job that thrashes stops; a backup and a build go on', async () => {
      const slow = { Slice: 'batch.slice', IOReadBandwidthMax: '/dev/vda 4M' };
      const build = `while :; do cat ${data(40)} >/dev/null; head -c 30M /dev/zero | tail -c 30M >/dev/null; done`;
      services(
        {
          'evictd-test-thrash.service': [`/bin/sh -c '${reading(80, 70)} & exec ${reading(80, 70)}'`, { ...slow, MemoryMax: '200M' }],
          'evictd-test-backup.service': [`/bin/sh -c 'while :; do cat ${data(81)} >/dev/null; done'`, { ...slow, MemoryMax: '60M' }],
          'evictd-test-build.service': [`/bin/sh -c '${build} & ${build}'`, { ...slow, MemoryMax: '300M' }],
        },
        { 'batch.slice': {} },
      );
      const evictd = await following('Thrashing without bytes missing');
      expect((await after(evictd)).toSorted()).toEqual(['evict evictd-test-thrash.service', 'killed', 'notify done', 'stop done']);
      expect(['evictd-test-backup.service', 'evictd-test-build.service'].map(active)).toEqual([true, true]);
    });

    recipe('Leak detector: the service that grows is reported once, and none ends', async () => {
      // From when evictd runs, and several times as much as the policy asks for: a slow machine grows slower.
      const leak = 'my @held = "x" x (300 << 20); for (;;) { push @held, "x" x (4 << 20) if @held < 256 and -e $ARGV[0]; sleep 1 }';
      writeFileSync(join(DIRECTORY, 'leak.pl'), leak);
      const app = { Slice: 'app.slice' };
      services(
        {
          'evictd-test-leak.service': [`/usr/bin/perl ${DIRECTORY}/leak.pl ${DIRECTORY}/started`, app],
          'evictd-test-steady.service': [holding(300), app],
        },
        { 'app.slice': {} },
      );
      const apps = ['leak', 'steady'].map((name) => `/app.slice/evictd-test-${name}.service`);
      await until('both hold their memory', () => apps.every((path) => usage(path) >= 300 << 20), undefined, LIMIT_MS);
      const evictd = await following('Leak detector', (text) => text.replace('2h', '20s').replace('30m', '30s').replace('10m', '10s'));
      writeFileSync(join(DIRECTORY, 'started'), '');
      expect(await after(evictd)).toEqual(['notify done']);
      expect(evictd.journal().find(({ type }) => type === 'policy')).toMatchObject({ scope: apps[0] });
      expect(['evictd-test-leak.service', 'evictd-test-steady.service'].map(active)).toEqual([true, true]);
    });

    recipe('Notify only: a machine that stalls is reported, with the values', async () => {
      services({ 'evictd-test-stall.service': [LEAKING, { MemoryHigh: '32M' }] });
      const evictd = await following('Notify only');
      expect(await after(evictd)).toEqual(['notify done']);
      const { values } = (await evictd.recorded('policy')) as unknown as { values: Record<string, number> };
      expect(values['memory.pressure.full']).toBeGreaterThan(0.2);
      expect(active('evictd-test-stall.service')).toBe(true);
    });
  });

  recipe('Swap on zram: the workload with the most swap ends before zram is full', async () => {
    zramSwap(240);
    const job = { Slice: 'batch.slice', MemoryHigh: '16M' };
    services({ 'evictd-test-cold.service': [holding(200), job], 'evictd-test-churn.service': [churning(48), job] }, { 'batch.slice': {} });
    const evictd = await following('Swap on zram');
    leave(450);
    expect(await after(evictd)).toEqual(['evict evictd-test-cold.service', 'killed', 'kill done']);
    expect(active('evictd-test-churn.service')).toBe(true);
  });
});

test('each recipe is tried', () => {
  const tried = [...readFileSync('test/systemd/policy-recipes.test.ts', 'utf8').matchAll(/recipe\('([^:]*):/g)].map(([, name]) => name);
  expect(tried.toSorted()).toEqual([...recipes.keys()].toSorted());
});
