import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, victimOf, type JournalLine } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { aWhile, until } from '../e2e/wait.js';
import { memoryController } from '../support/cgroup.js';
import { hasSwap } from '../support/swap.js';
import { hasSystemd, property, systemd } from '../support/systemd.js';
import { Scene } from './scene.js';

// The scenarios of systemd's own test of its daemon (test/units/TEST-55-OOMD.sh): a bloating unit ends and a quiet one
// lives, avoid and omit are honoured, units of users, swap. Without evictd none of these units ends.

const v2 = memoryController()?.version === 2;
const OOMD = ['systemd-oomd.socket', 'systemd-oomd.service'];
const OOMD_CONF = '/run/systemd/oomd.conf.d/99-evictd-test.conf';
/** Takes all memory above its MemoryHigh, and makes the kernel scan pages there: a file that is read again and again. */
const BLOATING = `/bin/sh -c 'while :; do cat ${process.execPath} >/dev/null; done & exec tail /dev/zero'`;
const HIGH = { MemoryHigh: '32M', MemorySwapMax: '0' };
const KILL = { ManagedOOMMemoryPressure: 'kill', ManagedOOMMemoryPressureLimit: '20%' };

/** systemd-oomd's defaults for the machine, as an administrator sets them. */
function oomdConf(text: string): void {
  mkdirSync('/run/systemd/oomd.conf.d', { recursive: true });
  writeFileSync(OOMD_CONF, `[OOM]\n${text}\n`);
}

const guarding = (): Promise<Evictd> =>
  new Evictd({
    config: {
      evictionHard: { 'memory.available': '0%' },
      workloads: [{ systemd: { managedOOM: true } }],
      monitoringInterval: '1s',
      // A unit with 32 MiB gives little back to a machine with much free memory.
      departures: { 'node-yield': false },
      evictionBudget: { max: 20, window: '10m' },
    },
  }).guarding();

const victims = (evictd: Evictd): readonly unknown[] =>
  evictd
    .journal()
    .filter(({ type }) => type === 'decision')
    .map(victimOf);

const policyOf = ({ policy }: JournalLine): unknown => policy;

describe.runIf(hasSystemd && v2)(`what units ask of systemd-oomd (${ON}, needs systemd)`, () => {
  // Stopped is not enough: a managed unit wants it, so that its start starts systemd-oomd.
  beforeAll(() => {
    systemd('systemctl', 'mask', '--runtime', '--now', ...OOMD);
  });
  afterAll(() => {
    systemd('systemctl', 'unmask', '--runtime', ...OOMD);
  });
  beforeEach(() => {
    oomdConf('DefaultMemoryPressureDurationSec=2s');
  });
  afterEach(() => {
    rmSync(OOMD_CONF, { force: true });
  });

  test('pressure: the unit that bloats ends, and the quiet one lives', async () => {
    const scene = new Scene(undefined, KILL);
    const [bloat, quiet] = [scene.service('bloat', BLOATING, HIGH), scene.service('quiet', '/bin/sleep infinity', HIGH)];
    const [, chill] = scene.start(bloat, quiet);
    const evictd = await guarding();
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ victim: { name: bloat, path: `/${scene.slice}/${bloat}` }, action: 'SIGKILL' });
    expect(policyOf(decision)).toMatchObject({ name: 'managed-oom-pressure-20-2s', scope: `/${scene.slice}` });
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await until('systemd has seen the end', () => property(bloat, 'Result') === 'signal');
    expect(chill?.untouched()).toBe(true);
    expect(victims(evictd)).toEqual([bloat]);
  });

  test('avoid: another unit ends before, though it scans less; omit: it never ends', async () => {
    const scene = new Scene(undefined, KILL);
    const avoided = scene.service('avoided', BLOATING, { ...HIGH, ManagedOOMPreference: 'avoid' });
    const omitted = scene.service('omitted', BLOATING, { ...HIGH, ManagedOOMPreference: 'omit' });
    const munch = scene.service('munch', BLOATING, { ...HIGH, MemoryHigh: '64M' });
    const [, omit] = scene.start(avoided, omitted, munch);
    const evictd = await guarding();
    await evictd.until('both have ended', () => victims(evictd).length >= 2);
    expect(victims(evictd)).toEqual([munch, avoided]);
    expect(omit?.untouched()).toBe(true);
  });

  test('a unit that is protected does not end, whatever its settings are', async () => {
    const scene = new Scene(undefined, KILL);
    const bloat = scene.service('bloat', BLOATING, HIGH);
    const [unit] = scene.start(bloat);
    const evictd = await new Evictd({
      config: {
        evictionHard: { 'memory.available': '0%' },
        workloads: [{ systemd: { managedOOM: true } }],
        monitoringInterval: '1s',
        rules: [{ match: { name: bloat }, critical: true }],
      },
    }).guarding();
    const refused = (): JournalLine | undefined => evictd.journal().find(({ type, result }) => type === 'policy' && result === 'refused');
    await evictd.until('it is refused', () => refused() !== undefined);
    expect(refused()).toMatchObject({ policy: 'managed-oom-pressure-20-2s', action: 'kill' });
    await aWhile();
    expect(unit?.untouched()).toBe(true);
  });

  test('without managedOOM, and without kill, nothing ends', async () => {
    const scene = new Scene(undefined, { ...KILL, ManagedOOMMemoryPressure: 'auto' });
    const [unit] = scene.start(scene.service('bloat', BLOATING, HIGH));
    const evictd = await guarding();
    await aWhile();
    expect(victims(evictd)).toEqual([]);
    expect(unit?.untouched()).toBe(true);
  });

  test('while systemd-oomd runs, evictd warns and leaves the units to it', async () => {
    systemd('systemctl', 'unmask', '--runtime', ...OOMD);
    systemd('systemctl', 'start', 'systemd-oomd.service');
    onTestFinished(() => {
      systemd('systemctl', 'mask', '--runtime', '--now', ...OOMD);
    });
    const evictd = await guarding();
    await evictd.until('evictd warns', () => evictd.log.some(({ msg }) => msg.startsWith('systemd-oomd runs: evictd leaves units')));
  });

  test('a unit of a user ends, and a quiet one of the same user lives', async () => {
    const uid = '1997';
    const manager = `/user.slice/user-${uid}.slice/user@${uid}.service`;
    const asUser = (...command: readonly string[]): string =>
      systemd('runuser', '-u', 'evictd-test', '--', 'env', `XDG_RUNTIME_DIR=/run/user/${uid}`, ...command);
    systemd('useradd', '--no-create-home', '--uid', uid, 'evictd-test');
    onTestFinished(() => {
      spawnSync('systemctl', ['stop', `user@${uid}.service`]);
      systemd('userdel', 'evictd-test');
    });
    systemd('systemctl', 'start', `user@${uid}.service`);
    const run = (name: string, ...command: readonly string[]): string =>
      asUser('systemd-run', '--user', '--quiet', '--slice=evictdtest.slice', `--unit=${name}`, '--property=MemoryHigh=32M', ...command);
    run('evictd-test-quiet', 'sleep', '1200');
    asUser(
      'systemctl',
      '--user',
      'set-property',
      '--runtime',
      'evictdtest.slice',
      ...Object.entries(KILL).map(([key, value]) => `${key}=${value}`),
    );
    const evictd = await guarding();
    run('evictd-test-bloat', '/bin/sh', '-c', `while :; do cat ${process.execPath} >/dev/null; done & exec tail /dev/zero`);
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ victim: { path: `${manager}/evictdtest.slice/evictd-test-bloat.service` } });
    await evictd.recorded('outcome');
    expect(asUser('systemctl', '--user', 'is-active', 'evictd-test-quiet.service')).toBe('active');
    expect(victims(evictd)).toEqual(['evictd-test-bloat.service']);
  });

  test.runIf(hasSwap)('swap: of managed units the one that uses most of it ends', async () => {
    oomdConf('SwapUsedLimit=5%');
    const scene = new Scene(undefined, { ManagedOOMSwap: 'kill' });
    const swapping = (mib: number): string =>
      `/bin/sh -c 'head -c ${String(mib * 1024 * 1024)} /dev/zero | tail -c ${String(mib * 1024 * 1024)} | sleep infinity'`;
    const large = scene.service('large', swapping(160), { MemoryHigh: '16M' });
    const small = scene.service('small', swapping(60), { MemoryHigh: '16M' });
    const [, other] = scene.start(large, small);
    const evictd = await guarding();
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ victim: { name: large } });
    expect(policyOf(decision)).toMatchObject({ name: 'managed-oom-swap', scope: '' });
    expect(other?.untouched()).toBe(true);
  });
});
