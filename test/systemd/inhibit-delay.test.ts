import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { kill } from '../support/kill.js';
import { lockHolders, MANAGER } from '../support/logind.js';
import { hasSystemd, systemd } from '../support/systemd.js';
import { answers, configure, evictd, logged, mainPid, run, SERVICE, traces } from './service.js';

const DROP_IN = '/etc/systemd/logind.conf.d/zz-evictd.conf';

/** The InhibitDelayMaxSec of the running logind. */
const waitsSeconds = (): number => {
  return Number(systemd('busctl', 'get-property', ...MANAGER, 'InhibitDelayMaxUSec').slice(2)) / 1e6;
};

function doctorSays(): { readonly status: string; readonly fix?: string } | undefined {
  const { checks } = JSON.parse(evictd('doctor', '--output', 'json').stdout) as { checks: { id: string; status: string; fix?: string }[] };
  return checks.find(({ id }) => id === 'shutdown.delay');
}

// One installation: each test continues where the one before ended.
describe.skipIf(!hasSystemd)('InhibitDelayMaxSec of logind (needs systemd)', () => {
  let byDefault: number;
  let before: string[];

  beforeAll(() => {
    before = traces();
    byDefault = waitsSeconds();
  });
  afterAll(() => {
    evictd('uninstall');
    rmSync(DROP_IN, { force: true });
    run('systemctl', 'kill', '--signal=HUP', 'systemd-logind.service');
    rmSync('/etc/evictd', { recursive: true, force: true });
    rmSync('/var/lib/evictd', { recursive: true, force: true });
  });

  test('that is too short is reported by doctor, install and the start', async () => {
    expect(doctorSays()).toMatchObject({ status: 'ok' });
    configure({ shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' });
    expect(doctorSays()).toMatchObject({ status: 'degraded', fix: expect.stringContaining('evictd install --logind-drop-in') as string });
    const since = new Date();
    const { status, stdout } = evictd('install', '--now');
    expect([status, stdout]).toEqual([0, expect.stringContaining('  evictd install --logind-drop-in: ')]);
    expect(stdout).not.toContain(DROP_IN);
    await eventually('the log has it', () => logged(since).includes('InhibitDelayMaxSec=32'));
  });

  test('is raised by the drop-in at once without a restart of logind', async () => {
    const pid = systemd('systemctl', 'show', '--value', '--property=MainPID', 'systemd-logind.service');
    const { status, stdout, stderr } = evictd('install', '--logind-drop-in');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`write   ${DROP_IN}\n`);
    await eventually('logind has the new value', () => waitsSeconds() === 32);
    expect(systemd('systemctl', 'show', '--value', '--property=MainPID', 'systemd-logind.service')).toBe(pid);
    expect(doctorSays()).toMatchObject({ status: 'ok' });
    const since = new Date();
    systemd('systemctl', 'restart', SERVICE);
    await answers();
    expect(logged(since)).not.toContain('EVICTD_SHUTDOWN_DELAY');
  });

  test('lets the service hold the lock in its sandbox; the holder process has oom_score_adj 0 and ends with evictd', async () => {
    const [holder = 0] = await eventually('evictd holds the lock', () => lockHolders().length === 1 && lockHolders());
    const of = (pid: number, file: string): string => readFileSync(`/proc/${String(pid)}/${file}`, 'utf8').trim();
    expect(of(mainPid(), 'oom_score_adj')).toBe('-999');
    await eventually('the holder has oom_score_adj 0', () => of(holder, 'oom_score_adj') === '0');
    const child = (): number => Number(of(holder, `task/${String(holder)}/children`));
    const cat = await eventually('its child is cat', () => child() > 0 && of(child(), 'comm') === 'cat' && child());
    expect(of(cat, 'oom_score_adj')).toBe('0');
    kill(mainPid(), 'SIGKILL');
    await eventually('the next evictd holds the lock', () => lockHolders().length === 1 && !lockHolders().includes(holder));
    systemd('systemctl', 'stop', SERVICE);
    await eventually('the lock is released', () => lockHolders().length === 0);
    systemd('systemctl', 'start', SERVICE);
  });

  test('is adapted by install to the configuration', async () => {
    expect(evictd('install').stdout).toContain(`keep    ${DROP_IN} (unchanged)\n`);
    configure({ shutdownGracePeriod: '40s' });
    expect(evictd('install').stdout).toContain(`write   ${DROP_IN}\n`);
    await eventually('logind has the new value', () => waitsSeconds() === 42);
  });

  test('is restored to the default by uninstall', async () => {
    expect(evictd('uninstall').stdout).toContain(`remove  ${DROP_IN}\n`);
    await eventually('logind has the new value', () => waitsSeconds() === byDefault);
    expect(traces().filter((trace) => !before.includes(trace))).toEqual(['/etc/evictd', '/var/lib/evictd']);
  });
});
