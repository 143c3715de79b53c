import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { HostReading } from '../../../src/node/open-reading.js';
import { openShutdownReading } from '../../../src/features/shutdown/shutdown-reading.js';
import { openRuntimeReading } from '../../../src/node/runtime-reading.js';
import { loadConfig } from '../../../src/config/load.js';
import { shutdownGracePeriods } from '../../../src/core/workload/shutdown-config.js';
import {
  groupByPriority,
  type ShutdownWorkload,
  workloadsAtShutdown,
  type ShutdownWorkloads,
} from '../../../src/features/shutdown/shutdown-plan.js';
import { SystemdUnits } from '../../../src/host/linux/systemd/unit-manager.js';
import { SECOND } from '../../core/support.js';
import { BusPeer } from '../../host/linux/systemd/bus-peer.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

// A real cgroup, and a fake systemd.
const UNIT = 'evictd-test-batch.service';
let slice: TestCgroup;

beforeEach(async () => {
  slice = testCgroup(`evictdtest${String(process.pid)}.slice`);
  await slice.child(UNIT).spawn('sleep', ['600']);
});
afterEach(async () => {
  await slice.cleanup();
});

/** The shutdown plan for the unit if systemd has these properties of it. */
async function plan(
  more: readonly unknown[] = [],
  rules: readonly object[] = [],
): Promise<ShutdownWorkloads & { readonly first: ShutdownWorkload | undefined }> {
  const peer = await BusPeer.open();
  const own: Readonly<Record<string, unknown>> = { ControlGroup: ['s', `${slice.path}/${UNIT}`], TimeoutStopUSec: ['t', 45_000_000] };
  peer.answer = ({ member, body }) => {
    if (member === 'GetAll') return { signature: 'a{sv}', body: [[['Id', ['s', UNIT]], ['ActiveState', ['s', 'active']], ...more]] };
    const value = member === 'Get' ? own[String(body?.[1])] : undefined;
    if (value !== undefined) return { signature: 'v', body: [value] };
    return member === 'Get' ? { error: 'org.freedesktop.DBus.Error.UnknownProperty' } : { signature: '', body: [] };
  };
  const directory = temporaryDirectory();
  const file = join(directory, 'config.yaml');
  const config = { node: { cgroup: slice.path }, workloads: [{ cgroup: slice.path }], shutdownGracePeriod: '60s', rules };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const loaded = loadConfig({ platform: { os: 'linux' }, file });
  const reading = await openShutdownReading(loaded, new SystemdUnits([{ path: peer.path, daemon: false }]));
  onTestFinished(() => {
    reading.close();
  });
  const at = workloadsAtShutdown(reading.workloads.candidates());
  return { ...at, first: groupByPriority(shutdownGracePeriods(loaded.config.shutdown), at.ended)[0]?.workloads[0] };
}

test('an error closes all readers', async () => {
  const closed: string[] = [];
  const units = new SystemdUnits([{ path: '/nonexistent/evictd-bus', daemon: false }]);
  const closeUnits = vi.spyOn(units, 'close');
  const failing = async (...args: Parameters<typeof openRuntimeReading>): Promise<HostReading> => {
    const reading = await openRuntimeReading(...args);
    const workloads = Object.assign(Object.create(reading.workloads) as typeof reading.workloads, {
      candidates: () => {
        throw new Error('EMFILE');
      },
    });
    return {
      ...reading,
      workloads,
      close: () => {
        closed.push('reading');
        reading.close();
      },
    };
  };
  const directory = temporaryDirectory();
  const file = join(directory, 'config.yaml');
  writeFileSync(file, JSON.stringify({ node: { cgroup: slice.path }, workloads: [{ cgroup: slice.path }] }), { mode: 0o600 });
  await expect(openShutdownReading(loadConfig({ platform: { os: 'linux' }, file }), units, failing)).rejects.toThrow('EMFILE');
  expect([closed, closeUnits.mock.calls.length]).toEqual([['reading'], 1]);
});

test('the grace period of a unit is the time after which systemd would kill it', async () => {
  expect((await plan()).first).toMatchObject({ workload: { name: UNIT }, gracePeriodNs: 45n * SECOND });
});

test('the grace period of a unit is shorter if a rule or the period of its group is', async () => {
  const ruled = await plan([], [{ match: { name: UNIT }, terminationGracePeriodSeconds: 40 }]);
  expect(ruled.first?.gracePeriodNs).toBe(40n * SECOND);
  // systemd kills it after TimeoutStopSec= in any case.
  const beyond = await plan([], [{ match: { name: UNIT }, terminationGracePeriodSeconds: 50 }]);
  expect(beyond.first?.gracePeriodNs).toBe(45n * SECOND);
});

test('a unit that systemd cannot stop without stopping others is exempt', async () => {
  const { ended, leftAlone } = await plan([['FailureAction', ['s', 'reboot']]]);
  expect([ended.length, leftAlone.map(({ why }) => why.kind)]).toEqual([0, ['emergency-action']]);
});
