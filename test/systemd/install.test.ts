import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SCHED_FIFO, scheduling } from '../support/scheduling.js';
import { kill } from '../support/kill.js';
import { SLOWNESS } from '../support/slowness.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import {
  answers,
  configure,
  CONFIG,
  dropIn,
  evictd,
  JOURNAL,
  killedForGood,
  logged,
  mainPid,
  metric,
  records,
  run,
  SERVICE,
  state,
  traces,
} from './service.js';

const hasMemoryMin = existsSync('/sys/fs/cgroup/cgroup.controllers');
const THRESHOLD = 'evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}';
const MIB = 1024 * 1024;

// One installation: each test continues where the one before ended.
describe.skipIf(!hasSystemd)('evictd installed as a service', () => {
  const units = new TestUnits();
  let before: string[];

  beforeAll(() => {
    before = traces();
    units.write('evictdtest.slice', { Unit: { Description: 'workloads' } });
  });
  afterAll(() => {
    dropIn(undefined);
    evictd('uninstall');
    rmSync('/etc/evictd', { recursive: true, force: true });
    rmSync('/var/lib/evictd', { recursive: true, force: true });
    units.remove();
  });

  test('is refused where others could replace what root runs', () => {
    mkdirSync('/var/lib/evictdtest-program');
    cpSync('/project/dist', '/var/lib/evictdtest-program/dist', { recursive: true });
    const refused = ['', '/program.cjs'].map((name) => {
      const path = `/var/lib/evictdtest-program/dist${name}`;
      const { mode } = statSync(path);
      chmodSync(path, 0o777);
      const { status, stderr } = run(process.execPath, '/var/lib/evictdtest-program/dist/evictd.js', 'install', '--now');
      chmodSync(path, mode);
      return [status, /EVICTD_INSTALL_UNSAFE: (.*) is writable by all users/.exec(stderr)?.[1]];
    });
    rmSync('/var/lib/evictdtest-program', { recursive: true });
    expect(refused).toEqual([
      [1, '/var/lib/evictdtest-program/dist'],
      [1, '/var/lib/evictdtest-program/dist/program.cjs'],
    ]);
    expect(traces()).toEqual(before);
  });

  test('with --dry-run prints what it would do, and changes nothing', () => {
    const { status, stdout } = evictd('install', '--now', '--dry-run');
    expect([status, stdout.split('\n')[0]]).toEqual([0, 'dry run: nothing is changed']);
    expect(stdout).toContain('write   /etc/systemd/system/evictd.service\n');
    expect(traces()).toEqual(before);
  });

  test('is active, enabled and ready, and systemd-analyze finds no fault in its units', async () => {
    const since = new Date();
    const { status, stdout, stderr } = evictd('install', '--now');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^write {3}\/etc\/evictd\/config\.yaml\n/);
    expect(stdout).toMatch(/\nnext:\n.*configure workloads in \/etc\/evictd\/config\.yaml/);
    expect(state()).toBe('active/running');
    expect(systemd('systemctl', 'is-enabled', SERVICE)).toBe('enabled');
    expect(property(SERVICE, 'StatusText')).toBe('guarding machine');
    expect(property(SERVICE, 'Slice')).toBe('evictd.slice');
    const verified = run('systemd-analyze', 'verify', SERVICE, 'evictd.slice');
    expect(
      [verified.stdout, verified.stderr]
        .join('')
        .split('\n')
        .filter((line) => line.includes('evictd')),
    ).toEqual([]);
    // The sandbox permits everything that evictd needs.
    expect(logged(since)).not.toMatch(/EVICTD_(?!WORKLOADS_NONE)|cannot|denied|not permitted/i);
    await answers();
    const ready = await fetch('http://127.0.0.1:9796/readyz');
    expect([ready.status, await ready.text()]).toEqual([200, expect.not.stringMatching(/not live/)]);
  });

  test('the second time writes nothing, and does not restart the service', () => {
    const pid = mainPid();
    const { status, stdout } = evictd('install', '--now', '--output', 'json');
    const { steps } = JSON.parse(stdout) as { steps: { action: string; command?: string[] }[] };
    expect([status, steps.map(({ action }) => action)]).toEqual([0, ['keep', 'keep', 'keep', 'run', 'run']]);
    expect(mainPid()).toBe(pid);
  });

  test('has oom_score_adj, nice value, real-time priority, watchdog and locked memory in force', () => {
    const proc = `/proc/${String(mainPid())}`;
    expect(readFileSync(`${proc}/oom_score_adj`, 'utf8').trim()).toBe('-999');
    const stat = readFileSync(`${proc}/stat`, 'utf8');
    expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]).toBe('-20');
    expect(scheduling(mainPid(), 'evictd-waiter')).toEqual([[SCHED_FIFO, 1]]);
    expect(property(SERVICE, 'WatchdogUSec')).toBe('30s');
    expect(Number(/VmLck:\s+(\d+)/.exec(readFileSync(`${proc}/status`, 'utf8'))?.[1])).toBeGreaterThan(0);
  });

  test.skipIf(!hasMemoryMin)('has its memory protected along the whole path, and is never swapped', () => {
    const files = ['/sys/fs/cgroup/evictd.slice/memory.min', '/sys/fs/cgroup/evictd.slice/evictd.service/memory.min'];
    expect(files.map((file) => Number(readFileSync(file, 'utf8')))).toEqual([128 * MIB, 128 * MIB]);
    expect(readFileSync('/sys/fs/cgroup/evictd.slice/evictd.service/memory.swap.max', 'utf8').trim()).toBe('0');
  });

  test('has an exposure of at most 4, by what systemd-analyze says', () => {
    const [, exposure] =
      /Overall exposure level for evictd\.service: ([\d.]+)/.exec(systemd('systemd-analyze', '--no-pager', 'security', SERVICE)) ?? [];
    process.stdout.write(`systemd-analyze security evictd.service: ${String(exposure)}\n`);
    expect(Number(exposure)).toBeLessThanOrEqual(4);
  });

  test('reload: returns when the configuration is in force, and state is kept', async () => {
    const pid = mainPid();
    const soft = { evictionSoft: { 'memory.available': '99.9%' }, evictionSoftGracePeriod: { 'memory.available': '1h' } };
    for (const [threshold, mib] of [
      ['11Mi', 11],
      ['12Mi', 12],
    ] as const) {
      configure({ evictionHard: { 'memory.available': threshold }, ...soft });
      systemd('systemctl', 'reload', SERVICE);
      expect(await metric(THRESHOLD)).toBe(mib * MIB);
    }
    expect([mainPid(), state()]).toEqual([pid, 'active/running']);
    await eventually('the reload records', () => records('reload').length === 2);
    // The episode of the soft threshold continues: no second one has begun.
    expect(records('threshold').filter(({ kind, met }) => kind === 'soft' && met === true)).toHaveLength(1);
  });

  test('reload of a file with errors fails with their positions, and the present configuration stays', async () => {
    const pid = mainPid();
    const since = new Date();
    writeFileSync(CONFIG, 'evictionHard:\n  memory.available: nonsense\n');
    expect(run('systemctl', 'reload', SERVICE).status).not.toBe(0);
    expect(logged(since)).toMatch(/\/etc\/evictd\/config\.yaml:2:21: EVICTD_CONFIG_THRESHOLD/);
    expect([mainPid(), state(), await metric(THRESHOLD)]).toEqual([pid, 'active/running', 12 * MIB]);
    expect(await metric('evictd_config_last_reload_successful')).toBe(0);
    await eventually('the record of the refusal', () => records('reload-refused').length === 1);
    // The file is valid again but not reloaded: doctor reports that the running evictd refused it.
    configure({});
    expect(evictd('doctor').stdout).toMatch(/refused its configuration and keeps the previous one: .*config\.yaml:2:21/);
  });

  test('reload of a file that is gone fails with its path, and the present configuration stays', async () => {
    const pid = mainPid();
    const since = new Date();
    rmSync(CONFIG);
    expect(run('systemctl', 'reload', SERVICE).status).not.toBe(0);
    expect(logged(since)).toMatch(/\/etc\/evictd\/config\.yaml: EVICTD_CONFIG_FILE_MISSING/);
    expect([mainPid(), state(), await metric(THRESHOLD)]).toEqual([pid, 'active/running', 12 * MIB]);
    await eventually('the record of the refusal', () => records('reload-refused').length === 2);
    configure({});
  });

  test('what it reclaims lies outside its sandbox', async () => {
    const core = '/var/crash/evictd-test-core';
    mkdirSync('/var/crash', { recursive: true });
    writeFileSync(core, Buffer.alloc(32 * MIB, 1));
    systemd('touch', '--date=yesterday', core);
    const { bavail, bsize } = statfsSync('/');
    const wanted = { 'nodefs.available': String(bavail * bsize + 16 * MIB) };
    configure({ evictionHard: wanted, reclaim: [{ step: 'core-dumps', olderThan: '1h' }] });
    systemd('systemctl', 'reload', SERVICE);
    await eventually('the reclaim is recorded', () => records('reclaimed').length > 0);
    expect(records('reclaimed')).toMatchObject([{ collections: ['core-dumps'], enough: true, errors: [] }]);
    expect(existsSync(core)).toBe(false);
    configure({});
    systemd('systemctl', 'reload', SERVICE);
  });

  test('another file and a runtime directory of its own: a second install keeps them, and /run may be empty at boot', async () => {
    const [other, directory] = ['/etc/evictd/other.yaml', '/run/evictdtest-guard'];
    configure({ runtimeDirectory: directory, evictionHard: { 'memory.available': '13Mi' } });
    cpSync(CONFIG, other);
    configure({});
    expect(evictd('install', '--now', '--config', other).status).toBe(0);
    const again = evictd('install', '--now');
    expect([again.status, again.stdout]).toEqual([0, expect.stringMatching(/^keep {4}\/etc\/evictd\/other\.yaml \(the service uses it/)]);
    expect(await metric(THRESHOLD)).toBe(13 * MIB);
    systemd('systemctl', 'stop', SERVICE);
    rmSync(directory, { recursive: true });
    systemd('systemctl', 'start', SERVICE);
    expect([state(), statSync(directory).mode & 0o7777]).toEqual(['active/running', 0o700]);
    systemd('systemctl', 'reload', SERVICE);
    expect(evictd('install', '--now', '--config', CONFIG).status).toBe(0);
    const threshold = (): Promise<number | undefined> => metric(THRESHOLD).catch(() => undefined);
    await eventually('the default file is in force', async () => (await threshold()) === 10 * MIB);
    expect(existsSync(`${directory}/machine.lock`)).toBe(true); // it outlives the service
    rmSync(directory, { recursive: true });
    rmSync(other);
  });

  test('in its sandbox writes oom_score_adj of other users, evicts, and restores oom_score_adj when it stops', async () => {
    const names = ['evictd-test-keeps.service', 'evictd-test-goes.service'];
    for (const name of names) {
      units.write(name, {
        Service: { ExecStart: '/bin/sleep infinity', Slice: 'evictdtest.slice', User: 'nobody', OOMScoreAdjust: '100' },
      });
    }
    units.start(...names);
    const [keeps = 0, goes = 0] = names.map((name) => Number(property(name, 'MainPID')));
    const adj = (pid: number): string => readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'utf8').trim();
    const config = { workloads: [{ cgroup: '/evictdtest.slice' }], oomScoreAdj: 'qos' };
    configure(config);
    systemd('systemctl', 'reload', SERVICE);
    await eventually('both have oom_score_adj 1000', () => [keeps, goes].every((pid) => adj(pid) === '1000'));
    systemd('systemctl', 'stop', SERVICE);
    expect([keeps, goes].map(adj)).toEqual(['100', '100']);

    const critical = { match: { name: names[0] }, critical: true };
    configure({ ...config, rules: [critical], evictionHard: { 'memory.available': '99.9%' } });
    systemd('systemctl', 'start', SERVICE);
    await eventually('the outcome', () => records('outcome').length === 1);
    // A sleep frees less than the memory of a machine swings, so the eviction may be found ineffective.
    expect(records('outcome')[0]).toMatchObject({ victim: { name: names[1] }, processesLeft: 0 });
    expect(names.map((name) => property(name, 'ActiveState'))).toEqual(['active', 'failed']);
  });

  test('killed, it is started again', async () => {
    const pid = mainPid();
    kill(pid, 'SIGKILL');
    await eventually('the service has another process', () => state() === 'active/running' && mainPid() !== pid);
    expect(statSync(JOURNAL).size).toBeGreaterThan(0);
  });

  test('sends WATCHDOG=1 with any monitoring interval, and is restarted if it hangs', async () => {
    configure({ monitoringInterval: '1h' });
    const silent = 2 + 2 * SLOWNESS; // seconds without a message
    dropIn(`[Service]\nWatchdogSec=${String(silent)}s\nEnvironment=RUN_OPTIONS=--dry-run\n`);
    const since = new Date();
    systemd('systemctl', 'restart', SERVICE);
    const pid = mainPid();
    await new Promise((resolve) => setTimeout(resolve, (2 * silent + 1) * 1_000));
    expect([mainPid(), state()]).toEqual([pid, 'active/running']);
    expect(await metric('evictd_dry_run')).toBe(1);
    systemd('systemctl', 'reload', SERVICE); // a dry run reloads, too
    kill(pid, 'SIGSTOP');
    await eventually('the service has another process', () => state() === 'active/running' && mainPid() !== pid);
    expect(logged(since)).toMatch(/Watchdog timeout/);
    dropIn(undefined);
  });

  test('a configuration that cannot be used: the service fails, and is not restarted', async () => {
    writeFileSync(CONFIG, 'evictionHard:\n  memory.available: nonsense\n');
    expect(run('systemctl', 'restart', SERVICE).status).not.toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // more than RestartSec
    expect([state(), property(SERVICE, 'ExecMainStatus')]).toEqual(['failed/failed', '78']);
    rmSync(CONFIG);
    systemd('systemctl', 'reset-failed', SERVICE);
    expect(run('systemctl', 'start', SERVICE).status).not.toBe(0);
    expect([state(), property(SERVICE, 'ExecMainStatus')]).toEqual(['failed/failed', '78']);
    configure({});
    systemd('systemctl', 'start', SERVICE);
    expect(state()).toBe('active/running');
  });

  test('uninstalled after it was killed and could not start again: oom_score_adj is restored first', async () => {
    const name = 'evictd-test-marked.service';
    units.write(name, { Service: { ExecStart: '/bin/sleep infinity', Slice: 'evictdtest.slice', OOMScoreAdjust: '100' } });
    units.start(name);
    const pid = Number(property(name, 'MainPID'));
    const adj = (): string => readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'utf8').trim();
    configure({ workloads: [{ cgroup: '/evictdtest.slice' }], oomScoreAdj: 'qos' });
    systemd('systemctl', 'reload', SERVICE);
    await eventually('oom_score_adj is 1000', () => adj() === '1000');
    await killedForGood();
    const { status, stdout, stderr } = evictd('uninstall');
    expect(adj()).toBe('100');
    expect([status, stderr]).toEqual([0, expect.stringMatching(/config\.yaml:1:.*\n.*using the .*directories .*because of these errors/s)]);
    configure({});
    // A record that evictd had not yet written when it was killed goes into the journal, too.
    const restored =
      /^restore \/run\/evictd \(oom_score_adj of \d+ process(es)?\)\n(restore .* journal record.*\n)?remove {2}\/run\/evictd\n/m;
    expect(stdout).toMatch(restored);
    expect(evictd('install', '--now').status).toBe(0);
  });

  test('leaves only configuration and journal after uninstall', () => {
    const { status, stdout, stderr } = evictd('uninstall');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('keep    /etc/evictd (configuration)\nkeep    /var/lib/evictd (the journal)\n');
    expect(traces().filter((trace) => !before.includes(trace))).toEqual(['/etc/evictd', '/var/lib/evictd']);
    expect(property(SERVICE, 'LoadState')).toBe('not-found');
  });
});
