import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, victimOf, type JournalLine } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { aWhile, until } from '../e2e/wait.js';
import { memoryController } from '../support/cgroup.js';
import { hasSwap } from '../support/swap.js';
import { hasSystemd, property, systemd } from '../support/systemd.js';
import { Scene } from './scene.js';
import { TestUser } from './test-user.js';

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

describe.runIf(hasSystemd && v2)(`ManagedOOM settings of units (${ON}, needs systemd)`, () => {
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

  test('end the unit with growing pressure, and the quiet one lives', async () => {
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

  test('with avoid end another unit first, though it scans less, and with omit never end the unit', async () => {
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

  test('follow a change of oomd.conf without a restart', async () => {
    oomdConf('DefaultMemoryPressureDurationSec=1h');
    const scene = new Scene(undefined, KILL);
    const bloat = scene.service('bloat', BLOATING, HIGH);
    const [unit] = scene.start(bloat);
    const evictd = await guarding();
    await aWhile();
    expect(unit?.untouched()).toBe(true);
    oomdConf('DefaultMemoryPressureDurationSec=3s');
    const decision = await evictd.recorded('decision');
    expect(policyOf(decision)).toMatchObject({ name: 'managed-oom-pressure-20-3s', scope: `/${scene.slice}` });
    expect(decision).toMatchObject({ victim: { name: bloat } });
  });

  test('do not end a protected unit', async () => {
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

  test('end nothing without managedOOM, and without kill', async () => {
    const scene = new Scene(undefined, { ...KILL, ManagedOOMMemoryPressure: 'auto' });
    const [unit] = scene.start(scene.service('bloat', BLOATING, HIGH));
    const evictd = await guarding();
    await aWhile();
    expect(victims(evictd)).toEqual([]);
    expect(unit?.untouched()).toBe(true);
  });

  test('are left to systemd-oomd while it runs, which evictd logs as a warning', async () => {
    systemd('systemctl', 'unmask', '--runtime', ...OOMD);
    systemd('systemctl', 'start', 'systemd-oomd.service');
    onTestFinished(() => {
      systemd('systemctl', 'mask', '--runtime', '--now', ...OOMD);
    });
    const evictd = await guarding();
    await evictd.until('evictd warns', () => evictd.log.some(({ msg }) => msg.startsWith('systemd-oomd runs: evictd leaves units')));
  });

  test('end a unit of a user, and a quiet one of the same user lives', async () => {
    const user = new TestUser(1997);
    onTestFinished(() => {
      user.remove();
    });
    const its = { Slice: 'evictdtest.slice', MemoryHigh: '32M' };
    user.run('evictd-test-quiet', its, 'sleep', '1200');
    const settings = Object.entries(KILL).map(([key, value]) => `${key}=${value}`);
    user.as('systemctl', '--user', 'set-property', '--runtime', 'evictdtest.slice', ...settings);
    const evictd = await guarding();
    user.run('evictd-test-bloat', its, '/bin/sh', '-c', `while :; do cat ${process.execPath} >/dev/null; done & exec tail /dev/zero`);
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ victim: { path: `${user.manager}/evictdtest.slice/evictd-test-bloat.service` } });
    await evictd.recorded('outcome');
    expect(user.isActive('evictd-test-quiet.service')).toBe(true);
    expect(victims(evictd)).toEqual(['evictd-test-bloat.service']);
  });

  test.runIf(hasSwap)('with swap end the managed unit that uses most of it', async () => {
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
