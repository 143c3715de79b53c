import { existsSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { answers, configure, CONFIG, JOURNAL, killedForGood, logged, mainPid, records, run, SERVICE, state, traces } from './service.js';

// test/vm/run.ts builds them from the tree, not compressed.
const PACKAGES = '/project/build/deb/test';
const hasPackages = hasSystemd && existsSync(`${PACKAGES}/1.0.deb`);

/** dpkg, as apt runs it; but it need not wait for the disk of a machine that is thrown away. */
const dpkg = (...args: readonly string[]): string => systemd('env', 'DEBIAN_FRONTEND=noninteractive', 'dpkg', '--force-unsafe-io', ...args);

// One installation, from nothing to nothing: each test goes on where the one before has ended.
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

  test('installed: it guards, on a Node of its own, and evicts nobody', async () => {
    const since = new Date();
    dpkg('--install', `${PACKAGES}/1.0.deb`);
    expect([state(), systemd('systemctl', 'is-enabled', SERVICE)]).toEqual(['active/running', 'enabled']);
    expect(readlinkSync(`/proc/${String(mainPid())}/exe`)).toBe('/usr/lib/evictd/node');
    expect(property(SERVICE, 'FragmentPath')).toMatch(/\/lib\/systemd\/system\/evictd\.service$/); // not one in /etc
    expect(logged(since)).toMatch(/EVICTD_WORKLOADS_NONE/);
    expect(logged(since)).not.toMatch(/EVICTD_(?!WORKLOADS_NONE)|cannot|denied|not permitted/i);
    await answers();
  });

  test('its unit is the package’s: install and uninstall leave it to that', () => {
    const refused = run('/usr/bin/evictd', 'install', '--now');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/EVICTD_INSTALL_PACKAGED.*\n.*systemctl enable --now/)]);
  });

  test('upgraded in the middle of a grace period: the new one guards, with the administrator’s configuration, and goes on with it', async () => {
    configure({
      evictionHard: { 'memory.available': '11Mi' },
      evictionSoft: { 'memory.available': '99.9%' },
      evictionSoftGracePeriod: { 'memory.available': '1h' },
    });
    systemd('systemctl', 'reload', SERVICE);
    await eventually('it has begun', () => records('threshold').length === 1);
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

  test('upgraded while it is stopped: it stays so; while it hangs: it guards', () => {
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

  test('removed after it was killed: what it owes is given back, and nothing is left but configuration and journal', async () => {
    units.write('evictdtest.slice', { Unit: { Description: 'workloads' } });
    units.write('evictd-test-marked.service', {
      Service: { ExecStart: '/bin/sleep infinity', Slice: 'evictdtest.slice', OOMScoreAdjust: '100' },
    });
    units.start('evictd-test-marked.service');
    const pid = Number(property('evictd-test-marked.service', 'MainPID'));
    const adj = (): string => readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'utf8').trim();
    configure({ workloads: [{ cgroup: '/evictdtest.slice' }], oomScoreAdj: 'qos' });
    systemd('systemctl', 'reload', SERVICE);
    await eventually('it is marked', () => adj() === '1000');
    await killedForGood();
    dpkg('--remove', 'evictd');
    expect(adj()).toBe('100');
    expect(property(SERVICE, 'ActiveState')).toBe('inactive');
    expect(
      ['/usr/lib/evictd', '/usr/bin/evictd', '/usr/lib/systemd/system/evictd.service', '/run/evictd'].filter((path) => existsSync(path)),
    ).toEqual([]);
    expect([CONFIG, JOURNAL].map((path) => statSync(path).size > 0)).toEqual([true, true]);
  });

  test('installed again: it guards', () => {
    configure({});
    dpkg('--install', `${PACKAGES}/1.1.deb`);
    expect(state()).toBe('active/running');
  });

  test('purged: nothing is left', () => {
    dpkg('--purge', 'evictd');
    expect(traces()).toEqual(before);
  });
});
