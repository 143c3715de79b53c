import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { configure, evictd, JOURNAL, logged, records as recordsOf, SERVICE } from './service.js';
import { NODE, SLICE, small } from './slice.js';

const MIB = 1 << 20;
const OWN = '/var/lib/evictdtest-own';
const UNIT = 'evictd-test-own.service';

const freeMib = (): number => {
  const { bavail, bsize } = statfsSync('/');
  return Math.floor((bavail * bsize) / MIB);
};

/** A journal that is not there yet has none. */
const records = (type: string): ReturnType<typeof recordsOf> => (existsSync(JOURNAL) ? recordsOf(type) : []);

describe.skipIf(!hasSystemd)('the directory of a unit, emptied by evictd as a service (needs systemd)', () => {
  const units = new TestUnits();
  afterEach(() => {
    evictd('uninstall');
    units.remove();
    for (const path of ['/etc/evictd', '/var/lib/evictd', OWN]) rmSync(path, { recursive: true, force: true });
  });

  /** A unit that restarts by itself at once, and writes to its directory whenever it does; without it the disk has 64 MiB more than it should. */
  function scene(restart: string): Record<string, unknown> {
    mkdirSync(OWN);
    writeFileSync(`${OWN}/data`, Buffer.alloc(96 * MIB, 1));
    systemd('sync', '-f', OWN);
    units.writeAll({
      [SLICE]: NODE,
      [UNIT]: small({ Restart: restart, RestartSec: '0', ExecStartPre: `/bin/sh -c 'date > ${OWN}/started-$(date +%%s%%N)'` }),
      'evictd-test-other.service': small(),
    });
    units.start(UNIT, 'evictd-test-other.service');
    return {
      evictionHard: { 'nodefs.available': `${String(freeMib() + 32)}Mi` },
      monitoringInterval: '1s',
      node: { cgroup: `/${SLICE}` },
      workloads: [{ systemd: { slices: [SLICE] } }],
      rules: [{ match: { name: UNIT }, directories: [{ path: OWN, onEvict: 'empty' }] }],
    };
  }

  test('is emptied while it is kept stopped, and stays empty until it is started again', async () => {
    configure(scene('always'));
    expect(evictd('install', '--now')).toMatchObject({ status: 0, stderr: '' });
    await eventually('it is over', () => records('outcome').length > 0);
    expect(records('emptied')).toMatchObject([{ path: OWN, complete: true, failed: 0 }]);
    expect(records('outcome')).toMatchObject([{ result: 'killed', victim: { name: UNIT } }]);
    expect(records('decision')).toMatchObject([{ unit: { keptStopped: 'until DiskPressure has cleared' } }]);
    expect(readdirSync(OWN)).toEqual([]);
    expect(['inactive', 'failed']).toContain(property(UNIT, 'ActiveState'));
    expect(property('evictd-test-other.service', 'ActiveState')).toBe('active');
    const [, exposure] =
      /exposure level for evictd\.service: ([\d.]+)/i.exec(systemd('systemd-analyze', '--no-pager', 'security', SERVICE)) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(4);
    expect(evictd('uninstall')).toMatchObject({ status: 0 });
    await eventually('it is started again, and writes', () => readdirSync(OWN).length === 1);
  });

  test('is not where it does not restart but was installed without it: that is said at the start, and nobody goes', async () => {
    const since = new Date();
    const config = scene('no');
    configure({ ...config, rules: [] });
    expect(evictd('install', '--now')).toMatchObject({ status: 0 });
    configure(config);
    expect(evictd('reload')).toMatchObject({ status: 0 });
    await eventually('it is said', () => logged(since).includes(`${OWN} cannot be emptied: it is read-only to evictd`));
    await eventually('it has looked', () => records('alert').length > 0);
    expect([readdirSync(OWN).length, property(UNIT, 'ActiveState')]).toEqual([2, 'active']);
    expect(evictd('install', '--now')).toMatchObject({ status: 0 });
    await eventually('it is emptied', () => records('emptied').length > 0);
    expect(records('emptied')).toMatchObject([{ complete: true }]);
  });
});
