import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { memoryController } from '../support/cgroup.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { configure, evictd, mainPid, run, SERVICE } from './service.js';
import { WITHOUT_SYSTEMD } from './slice.js';

const SLICE = 'evictdtest.slice';
const WORKLOAD = 'evictd-test-worker.service';
const v2 = memoryController()?.version === 2;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly summary: string;
  readonly fix?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** 400 MiB of 2 GiB: met before the limit of earlyoom in Debian. */
const SENSIBLE = { evictionHard: { 'memory.available': '400Mi' }, workloads: [{ cgroup: `/${SLICE}` }] };

function checksOf({ stdout, stderr }: Pick<ReturnType<typeof run>, 'stdout' | 'stderr'>): readonly Check[] {
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { checks: Check[] }).checks;
}

function doctor(...args: readonly string[]): { exit: number | null; checks: readonly Check[]; find: (id: string) => Check | undefined } {
  const said = evictd('doctor', '-o', 'json', ...args);
  const checks = checksOf(said);
  return { exit: said.status, checks, find: (id) => checks.find((check) => check.id === id) };
}

// One installation: each test continues where the one before ended.
describe.skipIf(!hasSystemd || !v2)('evictd doctor beside systemd', () => {
  const units = new TestUnits();

  const stopOthers = () => systemd('systemctl', 'stop', 'earlyoom.service', 'systemd-oomd.service', 'systemd-oomd.socket');

  beforeAll(() => {
    stopOthers(); // the manager of a user starts systemd-oomd to report its units
    units.write(SLICE, { Slice: { MemoryMax: '600M' } });
    units.write(WORKLOAD, { Service: { ExecStart: '/bin/sleep 1200', Slice: SLICE } });
    units.start(WORKLOAD);
    configure(SENSIBLE);
  });
  afterAll(() => {
    stopOthers();
    evictd('uninstall');
    rmSync('/etc/evictd', { recursive: true, force: true });
    rmSync('/var/lib/evictd', { recursive: true, force: true });
    units.remove();
  });

  test('before the installation names the missing parts, and how to install them', () => {
    const { exit, checks, find } = doctor();
    expect(exit).toBe(1);
    expect(checks.filter(({ status }) => status !== 'ok').map(({ id }) => id)).toEqual(['service.unit', 'service.instance']);
    expect(find('service.unit')).toMatchObject({ fix: 'evictd install --now', details: { load: 'not-found' } });
    expect(find('service.memory-min')?.summary).toContain('evictd install');
  });

  test('with a sensible configuration has only ok checks', () => {
    expect(evictd('install', '--now')).toMatchObject({ status: 0, stderr: '' });
    const { exit, checks, find } = doctor();
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(exit).toBe(0);
    expect(find('service.instance')).toMatchObject({ details: { pid: mainPid() } });
    expect(find('service.version')).toMatchObject({ details: { running: manifest.version } });
    expect(find('service.memory-min')?.details.cgroups).toMatchObject([{ path: `/evictd.slice/${SERVICE}` }, { path: '/evictd.slice' }]);
    expect(find('service.oom-score-adj')).toMatchObject({ details: { oomScoreAdj: -999 } });
    expect(find('service.watchdog')?.status).toBe('ok');
    expect(find('workloads[0]')).toMatchObject({ details: { workloads: 1 } });
    expect(find('cgroup.controllers')).toMatchObject({ details: { cgroups: [{ path: `/${SLICE}`, stopsAt: null }] } });
    // A D-Bus call to systemd-oomd would start it.
    expect(property('systemd-oomd.service', 'ActiveState')).toBe('inactive');
  });

  test('with units as workloads is degraded if systemd cannot be reached', () => {
    const args = ['doctor', '-o', 'json', '--workload-slice', SLICE];
    const source = (...through: readonly string[]): Check | undefined => {
      const [program = '', ...rest] = [...through, process.execPath, '/project/dist/evictd.js', ...args];
      return checksOf(run(program, ...rest)).find(({ details }) => details.source === `systemd ${SLICE}`);
    };
    expect(source()).toMatchObject({ status: 'ok', details: { workloads: 1 } });
    expect(source(...WITHOUT_SYSTEMD)).toMatchObject({
      status: 'degraded',
      summary: expect.stringContaining('systemd does not answer (/run/systemd/private: ') as unknown,
      details: { workloads: 1 },
    });
  });

  test('without memory.min in one ancestor reports that memory is not protected', () => {
    systemd('systemctl', 'set-property', '--runtime', 'evictd.slice', 'MemoryMin=0');
    expect(doctor().find('service.memory-min')).toMatchObject({
      status: 'degraded',
      summary: expect.stringContaining('not set in /evictd.slice:') as unknown,
    });
    systemd('systemctl', 'revert', 'evictd.slice');
    expect(doctor().find('service.memory-min')?.status).toBe('ok');
  });

  test('with earlyoom is ok below the threshold, and degraded if earlyoom acts first', () => {
    systemd('systemctl', 'start', 'earlyoom.service');
    const pid = Number(property('earlyoom.service', 'MainPID'));
    const { exit, find } = doctor();
    expect(find('daemon.others')?.details).toEqual({ names: ['earlyoom'] });
    expect(find('daemon.earlyoom')).toMatchObject({ status: 'ok', details: { isFirst: false } });
    expect(find('daemon.earlyoom')?.summary).toContain(`(process ${String(pid)} of earlyoom.service)`);
    expect(exit).toBe(0);
    const lower = doctor('--eviction-hard', 'memory.available<150Mi');
    expect(lower.find('daemon.earlyoom')).toMatchObject({ status: 'degraded', details: { isFirst: true } });
    expect(lower.exit).toBe(1);
    systemd('systemctl', 'stop', 'earlyoom.service');
  });

  test('with systemd-oomd is degraded if that monitors workloads of evictd', () => {
    systemd('systemctl', 'start', 'systemd-oomd.service');
    expect(doctor().find('daemon.systemd-oomd')).toMatchObject({ status: 'ok', details: { monitored: [] } });
    units.write(SLICE, { Slice: { MemoryMax: '600M', ManagedOOMMemoryPressure: 'kill', ManagedOOMMemoryPressureLimit: '40%' } });
    const { exit, find } = doctor();
    expect(find('daemon.systemd-oomd')).toMatchObject({
      status: 'degraded',
      summary: expect.stringContaining(`/${SLICE} (pressure 40.00% for `) as unknown,
    });
    expect(exit).toBe(1);
    systemd('systemctl', 'stop', 'systemd-oomd.service', 'systemd-oomd.socket');
  });

  test('reports a stopped service as degraded, and a failed one as broken', () => {
    systemd('systemctl', 'stop', SERVICE);
    expect(doctor().find('service.unit')).toMatchObject({ status: 'degraded', details: { active: 'inactive' } });
    configure({ evictionHard: { 'memory.available': 'nonsense' } });
    expect(() => systemd('systemctl', 'start', SERVICE)).toThrow();
    configure(SENSIBLE);
    const { exit, find } = doctor();
    expect(find('service.unit')).toMatchObject({ status: 'broken', details: { active: 'failed' } });
    expect(exit).toBe(2);
  });
});
