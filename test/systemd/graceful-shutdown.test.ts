import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from '../e2e/evictd.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { guardingSlice, NODE, SLICE, small } from './slice.js';

const MANAGER = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;
const LOGIND_DROP_IN = '/run/systemd/logind.conf.d/evictd-test.conf';
const TARGET_DROP_IN = '/run/systemd/system/poweroff.target.d/evictd-test.conf';
const [BATCH, STUBBORN, ONCE] = ['evictd-test-batch.service', 'evictd-test-stubborn.service', 'evictd-test-once.service'];
const [DB, APP] = ['evictd-test-db.service', 'evictd-test-app.service'];

function write(file: string, text: string): void {
  mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
  writeFileSync(file, text);
}

const CONFIG = guardingSlice({
  shutdownGracePeriod: '10m',
  shutdownGracePeriodCriticalPods: '5m',
  rules: [
    { match: { name: DB }, critical: true },
    { match: { name: APP }, critical: true },
    { match: { name: STUBBORN }, terminationGracePeriodSeconds: 1 },
  ],
});

// logind goes on as far as a target that refuses: then the machine stays.
describe.skipIf(!hasSystemd)('units at a shutdown of the machine (needs systemd)', () => {
  const units = new TestUnits();

  beforeEach(() => {
    write(LOGIND_DROP_IN, '[Login]\nInhibitDelayMaxSec=900\n');
    write(TARGET_DROP_IN, '[Unit]\nRefuseManualStart=yes\n');
    systemd('systemctl', 'restart', 'systemd-logind');
    systemd('systemctl', 'daemon-reload');
    if (property('poweroff.target', 'RefuseManualStart') !== 'yes') throw new Error('this machine would go down');
  });
  afterEach(() => {
    units.remove();
    rmSync(LOGIND_DROP_IN, { force: true });
    rmSync(TARGET_DROP_IN, { force: true });
    systemd('systemctl', 'daemon-reload');
    systemd('systemctl', 'restart', 'systemd-logind');
  });

  test('systemd stops them group by group, none comes back, and evictd starts none when it is called off', async () => {
    units.writeAll({
      [SLICE]: NODE,
      [BATCH]: small({ Restart: 'always', RestartSec: '100ms' }),
      [STUBBORN]: small({ ExecStart: `/bin/sh -c "trap '' TERM; while :; do sleep 1; done"`, TimeoutStopSec: '900' }),
      [DB]: small({ Restart: 'always' }),
      [APP]: small({}, { Requires: DB, After: DB }),
    });
    onTestFinished(() => void systemd('systemctl', 'stop', ONCE));
    units.start(BATCH, STUBBORN, DB, APP);
    systemd('systemd-run', '--quiet', `--unit=${ONCE}`, `--slice=${SLICE}`, '--property=Restart=always', 'sleep', 'infinity');
    const evictd = await new Evictd({ config: CONFIG }).guarding();
    await evictd.logged(/a shutdown of the machine waits for evictd/);
    systemd('busctl', 'call', ...MANAGER, 'PowerOff', 'b', 'false');
    await evictd.until('it was called off', () => evictd.journal().some(({ phase }) => phase === 'called-off'), 120_000);

    const ended = evictd.journal().filter(({ type }) => type === 'ended');
    const inWords = ended.map(({ workload, result, group }) => `${(workload as { name: string }).name} ${String(result)} ${String(group)}`);
    expect(inWords.slice(0, 3).sort()).toEqual([`${BATCH} ended 0`, `${ONCE} ended 0`, `${STUBBORN} killed 0`]);
    expect(inWords.slice(3).sort()).toEqual([`${APP} ended 2000000000`, `${DB} ended 2000000000`]);
    expect(evictd.journal().find(({ phase }) => phase === 'over')).toMatchObject({ inTime: false, ended: 5, late: [] });
    const states = [BATCH, STUBBORN, DB, APP].map((name) => property(name, 'ActiveState'));
    expect(states.map((state) => (state === 'failed' ? 'inactive' : state))).toEqual(Array.from({ length: 4 }, () => 'inactive'));
    await evictd.logged(/a shutdown of the machine waits for evictd/);
    expect(await evictd.stop()).toBe(0);
  });
});
