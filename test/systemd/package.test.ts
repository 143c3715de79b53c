import { existsSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { answers, configure, CONFIG, JOURNAL, killedForGood, logged, mainPid, records, run, SERVICE, state, traces } from './service.js';

// Built by test/vm/run.ts, without compression.
const PACKAGES = '/project/build/deb/test';
const hasPackages = hasSystemd && existsSync(`${PACKAGES}/1.0.deb`);

/** dpkg as apt runs it, without fsync: the machine is thrown away. */
const dpkg = (...args: readonly string[]): string => systemd('env', 'DEBIAN_FRONTEND=noninteractive', 'dpkg', '--force-unsafe-io', ...args);

// One installation: each test continues where the one before ended.
describe.skipIf(!hasPackages)('the Debian package', () => {
  const units = new TestUnits();
  let before: string[];

  beforeAll(() => {
    before = traces();
  });
  afterAll(() => {
    units.remove();
    run('dpkg', '--purge', 'evictd');
    rmSync('/etc/evictd', { recursive: true, force: true });
  });

  test('guards with its own Node after the installation, and evicts no workload', async () => {
    const since = new Date();
    dpkg('--install', `${PACKAGES}/1.0.deb`);
    expect([state(), systemd('systemctl', 'is-enabled', SERVICE)]).toEqual(['active/running', 'enabled']);
    expect(readlinkSync(`/proc/${String(mainPid())}/exe`)).toBe('/usr/lib/evictd/node');
    expect(property(SERVICE, 'FragmentPath')).toMatch(/\/lib\/systemd\/system\/evictd\.service$/); // not one in /etc
    expect(logged(since)).toMatch(/EVICTD_WORKLOADS_NONE/);
    expect(logged(since)).not.toMatch(/EVICTD_(?!WORKLOADS_NONE)|cannot|denied|not permitted/i);
    await answers();
  });

  test('makes evictd install refuse, because the unit belongs to the package', () => {
    const refused = run('/usr/bin/evictd', 'install', '--now');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/EVICTD_INSTALL_PACKAGED.*\n.*systemctl enable --now/)]);
  });

  test('upgraded during a grace period keeps the configuration and continues the period', async () => {
    configure({
      evictionHard: { 'memory.available': '11Mi' },
      evictionSoft: { 'memory.available': '99.9%' },
      evictionSoftGracePeriod: { 'memory.available': '1h' },
    });
    systemd('systemctl', 'reload', SERVICE);
    await eventually('the threshold is met', () => records('threshold').length === 1);
    const mine = readFileSync(CONFIG, 'utf8');
    const pid = mainPid();
    dpkg('--install', `${PACKAGES}/1.1.deb`);
    expect(systemd('dpkg-query', '--show', '--showformat=${Version} ${Status}', 'evictd')).toBe('1.1 install ok installed');
    expect(state()).toBe('active/running');
    expect(mainPid()).not.toBe(pid);
    expect(readFileSync(CONFIG, 'utf8')).toBe(mine);
    await eventually('both runs in the journal', () => records('start').length === 2 && records('stop').length === 1);
    expect(records('start')[1]).toMatchObject({ resumed: { thresholds: ['memory.available<99.9%'] } });
    expect(records('threshold')).toHaveLength(1);
  });

  test('upgraded while stopped stays stopped, and guards if it was upgraded while it hung', () => {
    systemd('systemctl', 'stop', SERVICE);
    const upgrade = () => {
      systemd('/var/lib/dpkg/info/evictd.prerm', 'upgrade', '1.1'); // what dpkg runs then
      systemd('/var/lib/dpkg/info/evictd.postinst', 'configure', '1.0');
    };
    upgrade();
    expect(state()).toBe('inactive/dead');
    systemd('systemctl', 'start', SERVICE);
    systemd('systemctl', 'kill', '--signal=SIGSTOP', SERVICE); // it hangs
    upgrade();
    expect(state()).toBe('active/running');
  });

  test('removed after a kill has restored oom_score_adj, and leaves only configuration and journal', async () => {
    units.write('evictdtest.slice', { Unit: { Description: 'workloads' } });
    units.write('evictd-test-marked.service', {
      Service: { ExecStart: '/bin/sleep infinity', Slice: 'evictdtest.slice', OOMScoreAdjust: '100' },
    });
    units.start('evictd-test-marked.service');
    const pid = Number(property('evictd-test-marked.service', 'MainPID'));
    const adj = (): string => readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'utf8').trim();
    configure({ workloads: [{ cgroup: '/evictdtest.slice' }], oomScoreAdj: 'qos' });
    systemd('systemctl', 'reload', SERVICE);
    await eventually('oom_score_adj is 1000', () => adj() === '1000');
    await killedForGood();
    dpkg('--remove', 'evictd');
    expect(adj()).toBe('100');
    expect(property(SERVICE, 'ActiveState')).toBe('inactive');
    expect(
      ['/usr/lib/evictd', '/usr/bin/evictd', '/usr/lib/systemd/system/evictd.service', '/run/evictd'].filter((path) => existsSync(path)),
    ).toEqual([]);
    expect([CONFIG, JOURNAL].map((path) => statSync(path).size > 0)).toEqual([true, true]);
  });

  test('installed again guards the node', () => {
    configure({});
    dpkg('--install', `${PACKAGES}/1.1.deb`);
    expect(state()).toBe('active/running');
  });

  test('purged leaves nothing', () => {
    dpkg('--purge', 'evictd');
    expect(traces()).toEqual(before);
  });
});
