import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Evictd, evictd, victimOf } from '../e2e/evictd.js';
import { until } from '../e2e/wait.js';
import { memoryController } from '../support/cgroup.js';
import { hasSystemd, property, systemd, TestUnits, type UnitSections } from '../support/systemd.js';
import { removeXattr, setXattr } from '../support/xattr.js';
import { MIB_HELD, softly } from './slice.js';

/** A row of `evictd rank -o json`. */
interface Ranked {
  readonly name: string;
  readonly path: string;
  readonly priority: number;
  readonly requestBytes: number;
  readonly protection: string | null;
  readonly reasons: string;
}

const MIB = 1024 * 1024;
const SLICE = 'evictdtest.slice';
const controller = memoryController();
const v2 = controller?.version === 2;
const units = new TestUnits();
const directory = (path: string): string => `${controller?.mount ?? ''}${path}`;
const usage = (path: string): number =>
  Number(readFileSync(`${directory(path)}/${v2 ? 'memory.current' : 'memory.usage_in_bytes'}`, 'utf8'));
const isActive = (unit: string): boolean => property(unit, 'ActiveState') === 'active';

/** A service in the test's slice. `holds`: MiB of anonymous memory. */
function service({ holds = 0, ...settings }: Readonly<Record<string, string | number>> = {}): UnitSections {
  const bytes = String(Number(holds) * MIB);
  const command = holds === 0 ? '/bin/sleep 1200' : `/bin/sh -c 'head -c ${bytes} /dev/zero | tail -c ${bytes} | sleep 1200'`;
  const written = Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, String(value)]));
  return { Service: { ExecStart: command, Slice: SLICE, ...written } };
}
/** By the part of the name between 'evictd-test-' and '.service'. */
const SERVICES = {
  plain: service(),
  deep: service({ Slice: 'evictdtest-inner.slice' }),
  delegated: service({
    Delegate: 'yes',
    ExecStart: `/bin/sh -c 'mkdir ${directory(`/${SLICE}/evictd-test-delegated.service/worker.service`)} && exec sleep 1200'`,
  }),
  kept: service({ MemoryLow: '24M', MemoryMin: '8M', MemoryMax: '48M' }),
  avoid: service({ ManagedOOMPreference: 'avoid' }),
  omit: service({ ManagedOOMPreference: 'omit' }),
  omitted: service({ holds: 100, ManagedOOMPreference: 'omit' }),
  critical: service({ holds: 90 }),
  avoided: service({ holds: 80, ManagedOOMPreference: 'avoid' }),
  small: service({ holds: 60 }),
  first: service({ holds: 140 }),
  second: service({ holds: 200, ManagedOOMPreference: 'omit' }),
};
const IDLE = ['plain', 'deep', 'delegated', 'kept', 'avoid', 'omit'].map((name) => `evictd-test-${name}.service`);

async function rank(...args: readonly string[]): Promise<readonly Ranked[]> {
  const { code, stdout, stderr } = await evictd('rank', '-o', 'json', ...args);
  if (code !== 0) throw new Error(`rank: ${String(code)} ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { workloads: readonly Ranked[] }).workloads;
}
const named = (rows: readonly Ranked[], name: string): Ranked => {
  const row = rows.find((candidate) => candidate.name === name);
  if (row === undefined) throw new Error(`${name} is not ranked, but ${rows.map((one) => one.name).join(', ')}`);
  return row;
};

describe.runIf(hasSystemd && controller !== undefined)('units as workloads (where systemd is the init)', () => {
  beforeAll(() => {
    units.writeAll({
      [SLICE]: { Slice: { MemoryMax: '600M' } },
      'evictdtest-inner.slice': { Slice: {} },
      ...Object.fromEntries(Object.entries(SERVICES).map(([name, sections]) => [`evictd-test-${name}.service`, sections])),
    });
  });
  afterAll(() => {
    spawnSync('systemctl', ['stop', 'evictd-test-box.scope']);
    units.remove();
  });

  test('are services and scopes anywhere below a slice, with their settings', async () => {
    units.start(...IDLE);
    systemd(
      'systemd-run',
      '--quiet',
      '--scope',
      `--slice=${SLICE}`,
      '--unit=evictd-test-box',
      'sh',
      '-c',
      'sleep 1200 >/dev/null 2>&1 </dev/null &',
    );

    const rows = await rank('--workload-slice', SLICE);
    expect(rows.map(({ path }) => path).sort()).toEqual([
      `/${SLICE}/evictd-test-avoid.service`,
      `/${SLICE}/evictd-test-box.scope`,
      `/${SLICE}/evictd-test-delegated.service`,
      `/${SLICE}/evictd-test-kept.service`,
      `/${SLICE}/evictd-test-omit.service`,
      `/${SLICE}/evictd-test-plain.service`,
      `/${SLICE}/evictdtest-inner.slice/evictd-test-deep.service`,
    ]);
    // On v1 only systemd knows MemoryLow=, and `rank` does not ask it.
    expect(named(rows, 'evictd-test-kept.service').requestBytes).toBe(v2 ? 24 * MIB : 0);
    expect(named(rows, 'evictd-test-plain.service')).toMatchObject({ requestBytes: 0, priority: 0, protection: null });
    expect(named(rows, 'evictd-test-omit.service').protection).toContain('ManagedOOMPreference=omit');
    const last = rows.findLast(({ protection }) => protection === null);
    expect(last?.name).toBe('evictd-test-avoid.service');
    expect(last?.reasons).toContain('to be avoided');
  });

  test('follow the omit attribute, set and removed by hand', async () => {
    const path = directory(`/${SLICE}/evictd-test-plain.service`);
    setXattr(path, 'user.oomd_omit', '1');
    expect(named(await rank('--workload-slice', SLICE), 'evictd-test-plain.service').protection).toContain('omit');
    removeXattr(path, 'user.oomd_omit');
    expect(named(await rank('--workload-slice', SLICE), 'evictd-test-plain.service').protection).toBeNull();
  });

  test('are named units in any slice', async () => {
    const rows = await rank('--workload-unit', 'evictd-test-d*.service', '--workload-unit', 'evictd-test-box.scope');
    expect(rows.map(({ name }) => name).sort()).toEqual([
      'evictd-test-box.scope',
      'evictd-test-deep.service',
      'evictd-test-delegated.service',
    ]);
  });

  test('are protected in either source if the machine needs them', async () => {
    const rows = await rank('--workload-slice', '-.slice', '--workload-cgroup', '/');
    for (const name of ['systemd-journald.service', 'dbus.service']) expect(named(rows, name).protection).toContain('protected unit');
    expect(named(rows, 'init.scope').protection).toContain('evictd or an ancestor of evictd'); // process 1 is an ancestor of evictd
    // Children of the root: system.slice contains such units or evictd, the slice of the test an omitted unit.
    for (const name of ['system.slice', SLICE]) expect(named(rows, name).protection).toMatch(/^contains |evictd/);
  });

  describe('of a user', () => {
    const uid = '1999';
    const manager = `/user.slice/user-${uid}.slice/user@${uid}.service`;
    const asUser = (...command: readonly string[]): string =>
      systemd('runuser', '-u', 'evictd-test', '--', 'env', `XDG_RUNTIME_DIR=/run/user/${uid}`, ...command);
    const run = (name: string, ...command: readonly string[]): void => {
      asUser('systemd-run', '--user', '--quiet', `--unit=${name}`, ...command);
    };

    beforeAll(() => {
      systemd('useradd', '--no-create-home', '--uid', uid, 'evictd-test');
      systemd('systemctl', 'start', `user@${uid}.service`);
      for (const name of ['evictd-test-mine', 'systemd-mine']) run(name, 'sleep', '1200');
    });
    afterAll(() => {
      spawnSync('systemctl', ['stop', `user@${uid}.service`]);
      spawnSync('systemctl', ['revert', `user-${uid}.slice`]);
      systemd('userdel', 'evictd-test');
    });

    test('are single units on v2, and the manager as a whole on v1', async () => {
      const rows = await rank('--workload-slice', `user-${uid}.slice`);
      const protections = Object.fromEntries(
        rows.map(({ path, protection }) => [path.slice(manager.length), protection?.split(' (')[0] ?? null]),
      );
      const own = { '/app.slice/evictd-test-mine.service': null, '/app.slice/systemd-mine.service': null, '/init.scope': 'protected unit' };
      // The manager may have started other units, for example a bus.
      expect(protections).toMatchObject(v2 ? own : { '': 'protected unit' });
      expect(Object.keys(protections).includes('')).toBe(!v2);
      expect(directoriesIn(manager).length > 0).toBe(v2);
    });

    test.runIf(v2).each([
      { kind: 'soft', action: 'SIGTERM', thresholds: softly() },
      { kind: 'hard', action: 'SIGKILL', thresholds: { evictionHard: { 'memory.available': '384Mi' } } },
    ])(
      'with $kind get $action, because evictd does not ask the manager of a user, and other units live',
      async ({ kind, action, thresholds }) => {
        const cgroup = `/user.slice/user-${uid}.slice`;
        systemd('systemctl', 'set-property', '--runtime', `user-${uid}.slice`, 'MemoryMax=512M');
        const guard = new Evictd({
          config: { ...thresholds, node: { cgroup }, workloads: [{ systemd: { slices: [`user-${uid}.slice`] } }] },
        });
        await guard.guarding();
        const leak = `evictd-test-${kind}.service`;
        run(leak, '/bin/sh', '-c', `head -c ${String(MIB_HELD * MIB)} /dev/zero | tail -c ${String(MIB_HELD * MIB)} | sleep 1200`);
        expect(await guard.recorded('decision')).toMatchObject({
          kind,
          action,
          victim: { path: `${manager}/app.slice/${leak}` },
          unit: { name: leak, manager: 'user' },
        });
        expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed' });
        await until('the manager has seen the end', () => !asUser('systemctl', '--user', 'list-units', '--state=active').includes(leak));
        expect(asUser('systemctl', '--user', 'is-active', 'evictd-test-mine.service', 'systemd-mine.service')).toBe('active\nactive');
        expect(guard.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
      },
    );
  });

  test('at a real shortage end in order: without ManagedOOMPreference, then avoided ones, and never omitted or critical ones', async () => {
    units.stop(...IDLE, 'evictd-test-box.scope');
    const holders = ['omitted', 'critical', 'avoided', 'small'].map((name) => `evictd-test-${name}.service`);
    units.start(...holders);
    for (const [index, holder] of holders.entries()) {
      await until(`${holder} holds its memory`, () => usage(`/${SLICE}/${holder}`) > ([100, 90, 80, 60][index] ?? 0) * MIB);
    }
    const config = {
      node: { cgroup: `/${SLICE}` },
      evictionHard: { 'memory.available': '150Mi' },
      workloads: [{ systemd: { slices: [SLICE] } }],
      rules: [
        { match: { name: 'evictd-test-critical.service' }, critical: true },
        { match: { name: 'evictd-test-first.service' }, requests: { memory: '200Mi' } },
      ],
    };
    const evictedBy = (guard: Evictd) => guard.journal().flatMap((line) => (line.type === 'outcome' ? victimOf(line) : []));
    const guard = await new Evictd({ config }).guarding();

    // 330 of 600 MiB are held; 140 more leave less than 150, and the unit with 60 frees enough.
    const first = 'evictd-test-first.service';
    units.start(first);
    await guard.until('the first eviction has its outcome', () => evictedBy(guard).length >= 1);
    await until('the small unit is gone', () => !isActive('evictd-test-small.service'));
    expect(evictedBy(guard)).toEqual(['evictd-test-small.service']);
    units.stop(first);
    expect(isActive('evictd-test-avoided.service')).toBe(true);

    expect(await guard.stop()).toBe(0);

    // Another evictd: that one would wait, because since its eviction only memory grows that no eviction frees.
    const next = await new Evictd({ config }).guarding();
    const second = 'evictd-test-second.service';
    units.start(second);
    await next.until('the eviction has its outcome', () => evictedBy(next).length >= 1);
    expect(evictedBy(next)).toEqual(['evictd-test-avoided.service']);
    expect(await next.recorded('decision')).toMatchObject({ victim: { path: `/${SLICE}/evictd-test-avoided.service` } });
    units.stop(second);
    for (const name of ['omitted', 'critical']) expect(isActive(`evictd-test-${name}.service`)).toBe(true);
    expect(existsSync(directory(`/${SLICE}/evictd-test-avoided.service`))).toBe(false);
    expect(await next.stop()).toBe(0);
  });
});

function directoriesIn(path: string): string[] {
  return readdirSync(directory(path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
}
