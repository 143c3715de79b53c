import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { MANAGER } from '../support/logind.js';
import { SLOWNESS } from '../support/slowness.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { configure, dropIn, evictd, logged, metric, records, run, state } from './service.js';

const DROP_IN = '/run/systemd/logind.conf.d/evictd-test.conf';
const REFUSES = '/run/systemd/system/poweroff.target.d/evictd-test.conf';
const SOON = 'evictd-test-soon.service';
const DEAF = 'evictd-test-deaf.service';
const LATER = 'evictd-test-later.service';

/** While this file exists, SOON does not end. */
const STAYS = '/run/evictd-test-stays';

/** Runs `first` on SIGTERM. */
const onTerm = (first: string): string => `/bin/bash -c 'trap "${first}" TERM; while :; do sleep infinity & wait; done'`;
const SLOW = onTerm('sleep 1; exit 0');
const WAITS = onTerm(`while test -e ${STAYS}; do sleep 0.2; done; exit 0`);
const NEVER = onTerm(':');

const phases = (phase: string): ReturnType<typeof records> => records('shutdown').filter((record) => record.phase === phase);
const isHeld = (): boolean => /^evictd .* delay$/m.test(run('systemd-inhibit', '--list', '--no-pager').stdout.replaceAll(/ +$/gm, ''));
const mainPid = (unit: string): number => Number(property(unit, 'MainPID'));
const ready = async (): Promise<{ status: number; text: string }> => {
  const answer = await fetch('http://127.0.0.1:9796/readyz');
  return { status: answer.status, text: await answer.text() };
};

function inhibitDelayMax(seconds: number): void {
  mkdirSync(dirname(DROP_IN), { recursive: true });
  writeFileSync(DROP_IN, `[Login]\nInhibitDelayMaxSec=${String(seconds)}\n`);
  systemd('systemctl', 'restart', 'systemd-logind.service');
}

function powerOff(): void {
  if (property('poweroff.target', 'RefuseManualStart') !== 'yes') throw new Error('this machine would go down');
  systemd('busctl', 'call', ...MANAGER, 'PowerOff', 'b', 'false');
}

// poweroff.target refuses to start: logind runs the whole shutdown except its last step, and calls it off.
describe.skipIf(!hasSystemd)('a shutdown that logind cancels', () => {
  const units = new TestUnits();

  beforeAll(() => {
    mkdirSync(dirname(REFUSES), { recursive: true });
    writeFileSync(REFUSES, '[Unit]\nRefuseManualStart=yes\n');
    units.writeAll({
      'evictdtest.slice': { Slice: {} },
      [SOON]: { Service: { Slice: 'evictdtest.slice', ExecStart: WAITS, TimeoutStopSec: '600' } },
      [DEAF]: { Service: { Slice: 'evictdtest.slice', ExecStart: NEVER } },
      [LATER]: { Service: { Slice: 'evictdtest.slice', ExecStart: SLOW } },
    });
    configure({
      workloads: [{ systemd: { slices: ['evictdtest.slice'] } }],
      rules: [{ match: { name: LATER }, priority: 1000 }],
      shutdownGracePeriodByPodPriority: [
        { priority: 0, shutdownGracePeriodSeconds: 600 },
        { priority: 1000, shutdownGracePeriodSeconds: 60 },
      ],
    });
  });
  // First ends a shutdown in progress: without evictd it would continue.
  afterAll(() => {
    rmSync(STAYS, { force: true });
    rmSync(DROP_IN, { force: true });
    run('systemctl', 'unmask', '--runtime', 'systemd-logind.service');
    systemd('systemctl', 'restart', 'systemd-logind.service');
    dropIn(undefined);
    evictd('uninstall');
    rmSync('/etc/evictd', { recursive: true, force: true });
    rmSync('/var/lib/evictd', { recursive: true, force: true });
    rmSync(REFUSES, { force: true });
    units.remove();
  });

  test('is not delayed without systemd-logind, which the service reports, and the lock is acquired when logind starts', async () => {
    const since = new Date();
    systemd('systemctl', 'mask', '--runtime', 'systemd-logind.service');
    systemd('systemctl', 'stop', 'systemd-logind.service');
    const installed = evictd('install', '--now');
    expect([installed.status, installed.stderr]).toEqual([0, '']);
    expect(state()).toBe('active/running');
    await eventually('the log has it', () => logged(since).includes('EVICTD_SHUTDOWN_LOCK'), { circumstances: () => logged(since) });
    expect(await ready()).toEqual({ status: 200, text: expect.stringMatching(/shutdown.*logind/) as string });

    systemd('systemctl', 'unmask', '--runtime', 'systemd-logind.service');
    inhibitDelayMax(600);
    await eventually('the delay is held', isHeld, { ms: 40_000, circumstances: () => logged(since) });
  });

  test('has ended workloads in order, admit refused meanwhile, and everything is as before after the cancellation', async () => {
    writeFileSync(STAYS, '');
    units.start(SOON, LATER);
    powerOff();
    await eventually('the shutdown begins', () => phases('begins').length === 1);
    const refused = evictd('admit', '--name', 'evictd-test-new.service');
    expect(refused.status).toBe(1);
    expect(refused.stdout).toMatch(/^refused: .*shut/);
    const { status, text } = await ready();
    expect([status, text]).toEqual([503, expect.stringMatching(/shutting down/)]);
    expect(await metric('evictd_graceful_shutdown_start_time_seconds')).toBeGreaterThan(Date.now() / 1_000 - 600);
    expect(phases('over')).toEqual([]);

    rmSync(STAYS);
    await eventually('all workloads have ended', () => phases('over').length === 1, { ms: 60_000 });
    expect(records('ended').map(({ workload, result, inTime }) => [(workload as { name: string }).name, result, inTime])).toEqual([
      [SOON, 'ended', true],
      [LATER, 'ended', true],
    ]);
    expect(property(SOON, 'ActiveState')).toBe('inactive');
    expect(await metric('evictd_graceful_shutdown_end_time_seconds')).toBeGreaterThan(Date.now() / 1_000 - 600);

    await eventually('the shutdown is called off', () => phases('called-off').length === 1);
    await eventually('the delay is held again', isHeld, { ms: 40_000 });
    expect((await ready()).status).toBe(200);
    expect(evictd('admit', '--name', 'evictd-test-new.service').status).toBe(0);
  });

  test('during the first group, because logind waits no longer, kills no workload, and later groups continue', async () => {
    inhibitDelayMax(Math.max(5, 3 * SLOWNESS));
    await eventually('the delay is held', isHeld, { ms: 40_000 });
    units.start(DEAF, LATER);
    const [deaf, later] = [mainPid(DEAF), mainPid(LATER)];
    powerOff();
    const calledOff = await eventually('the shutdown is called off', () => phases('called-off')[1], { ms: 60_000 });
    expect(calledOff).toMatchObject({ ended: [], signalled: [expect.objectContaining({ name: DEAF })] });
    await pause(3_000);
    expect([mainPid(DEAF), mainPid(LATER)]).toEqual([deaf, later]);
    expect(property(LATER, 'ActiveState')).toBe('active');
    await eventually('the delay is held again', isHeld, { ms: 40_000 });
  });
});
