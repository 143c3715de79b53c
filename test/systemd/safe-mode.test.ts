import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { kill } from '../support/kill.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { answers, CONFIG, configure, dropIn, evictd, logged, mainPid, metric, records, SERVICE, state } from './service.js';

const MIB = 1024 * 1024;
const CRASHES = 5;
const [SLICE, UNIT] = ['evictdtest.slice', 'evictd-test-sleeps.service'];
const WORKLOADS = { workloads: [{ cgroup: `/${SLICE}` }] };
const MET = { ...WORKLOADS, evictionHard: { 'memory.available': '99.9%' } };

/** Of process `pid`, when systemd runs another one. */
async function ended(pid: number): Promise<void> {
  await eventually('the service has another process', () => state() === 'active/running' && mainPid() !== pid);
  await answered();
}

/** With any status: /readyz answers 503 in safe mode. */
async function answered(): Promise<Response> {
  return eventually('the service listens', () => fetch('http://127.0.0.1:9796/readyz').catch(() => undefined));
}

// One installation: each test continues where the one before ended.
describe.skipIf(!hasSystemd)('a service that crashes (needs systemd)', () => {
  const units = new TestUnits();

  beforeAll(async () => {
    units.writeAll({
      [SLICE]: { Unit: { Description: 'workloads' } },
      [UNIT]: { Service: { ExecStart: '/bin/sleep infinity', Slice: SLICE } },
    });
    units.start(UNIT);
    configure(WORKLOADS);
    expect(evictd('install', '--now')).toMatchObject({ status: 0, stderr: '' });
    await answers();
  });
  afterAll(() => {
    dropIn(undefined);
    evictd('uninstall');
    rmSync('/etc/evictd', { recursive: true, force: true });
    rmSync('/var/lib/evictd', { recursive: true, force: true });
    units.remove();
  });

  test('writes no core dump, and has a memory limit that leaves room beside the heap', () => {
    expect(readFileSync(`/proc/${String(mainPid())}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m);
    expect(property(SERVICE, 'MemoryMax')).toBe(String(512 * MIB));
    const heap = 'console.log(require("v8").getHeapStatistics().heap_size_limit)';
    const limited = ['--quiet', '--wait', '--pipe', '--property=MemoryMax=512M', process.execPath, '-e', heap];
    expect(Number(systemd('systemd-run', ...limited))).toBeLessThan(384 * MIB);
  });

  test('five times evicts nothing, and reports that', async () => {
    const since = new Date();
    for (let crashes = 0; crashes < CRASHES; crashes++) {
      expect(await metric('evictd_safe_mode')).toBe(0);
      const pid = mainPid();
      kill(pid, 'SIGKILL');
      await ended(pid);
    }
    expect(property(SERVICE, 'StatusText')).toMatch(/^safe mode, evicts nothing: /);
    expect(await metric('evictd_safe_mode')).toBe(1);
    const ready = await answered();
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('safe mode')]);
    expect(logged(since)).toContain('safe mode: evictd has crashed 5 times within 10m0s');

    configure(MET);
    systemd('systemctl', 'reload', SERVICE);
    await eventually('the alert is recorded', () => records('alert').length > 0);
    expect(records('alert')).toMatchObject([{ alert: 'safe-mode', signal: 'memory.available' }]);
    expect(records('decision')).toEqual([]);
    expect(property(UNIT, 'ActiveState')).toBe('active');
    expect(records('start').map(({ crashes }) => crashes)).toEqual([undefined, 1, 2, 3, 4, 5]);
  });

  test('evicts again after a restart', async () => {
    systemd('systemctl', 'restart', SERVICE);
    await eventually('the outcome is recorded', () => records('outcome').length > 0);
    expect(records('outcome')[0]).toMatchObject({ victim: { name: UNIT }, processesLeft: 0 });
    expect(await metric('evictd_safe_mode')).toBe(0);
    expect(records('start').at(-1)?.crashes).toBeUndefined();
  });

  test('because its heap is exhausted is restarted, and has that in its journal', async () => {
    configure(WORKLOADS);
    dropIn('[Service]\nEnvironment=NODE_OPTIONS=--max-old-space-size=24\n');
    systemd('systemctl', 'restart', SERVICE);
    await answers();
    const since = new Date();
    const pid = mainPid();
    // 256 KiB of configuration, the longest that evictd reads, whose nodes do not fit into the heap.
    writeFileSync(CONFIG, `rules: [${'{},'.repeat(87_000)}]`);
    kill(pid, 'SIGHUP');
    await eventually('evictd has ended', () => !existsSync(`/proc/${String(pid)}`), { ms: 60_000 });
    configure(WORKLOADS); // before systemd starts the next one
    await ended(pid);
    expect(logged(since)).toMatch(/JavaScript heap out of memory/);
    expect(logged(since)).toMatch(/code=killed, status=6\/ABRT/);
    expect(records('start').at(-1)).toMatchObject({ crashes: 1, message: expect.stringContaining('the last run crashed') as string });
    await answers();
  });
});
