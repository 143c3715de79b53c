import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { EVICTD, Evictd } from '../e2e/evictd.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { guardingSlice, NODE, SLICE, small } from './slice.js';

const MANAGER = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;
const LOGIND_DROP_IN = '/run/systemd/logind.conf.d/evictd-test.conf';
const TARGET_DROP_IN = '/run/systemd/system/poweroff.target.d/evictd-test.conf';
const [BATCH, STUBBORN, ONCE] = ['evictd-test-batch.service', 'evictd-test-stubborn.service', 'evictd-test-once.service'];
const [DB, APP, SAVER] = ['evictd-test-db.service', 'evictd-test-app.service', 'evictd-test-saver.service'];
/** Written by the unit that needs the database: the state of the database at each step of its stop. */
const SEEN = '/run/evictd-test-seen';

/** Freezes systemd itself. */
const FREEZE = '/sys/fs/cgroup/init.scope/cgroup.freeze';

interface Groups {
  readonly groups: readonly { readonly workloads: readonly { readonly name: string; readonly gracePeriodSeconds: number }[] }[];
}
const gracePeriods = ({ groups }: Groups): string[] =>
  groups.flatMap(({ workloads }) => workloads.map(({ name, gracePeriodSeconds }) => `${name} ${String(gracePeriodSeconds)}`));

function write(file: string, text: string): void {
  mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
  writeFileSync(file, text);
}

const CONFIG = guardingSlice({
  monitoringInterval: '5m', // new units are unknown until the shutdown
  shutdownGracePeriod: '10m',
  shutdownGracePeriodCriticalPods: '5m',
  rules: [
    { match: { name: DB }, critical: true },
    { match: { name: APP }, critical: true },
    { match: { name: STUBBORN }, terminationGracePeriodSeconds: 1 },
  ],
});

// poweroff.target refuses to start, so the machine stays up.
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

  test('are stopped by systemd group by group, none comes back, and evictd starts none when the shutdown is cancelled', async () => {
    units.writeAll({
      [SLICE]: NODE,
      [BATCH]: small({ Restart: 'always', RestartSec: '100ms', TimeoutStopSec: '45' }),
      [STUBBORN]: small({ ExecStart: `/bin/sh -c "trap '' TERM; while :; do sleep 1; done"`, TimeoutStopSec: '900' }),
      [DB]: small({ Restart: 'always' }),
      [APP]: small({}, { Requires: DB, After: DB }),
    });
    onTestFinished(() => void spawnSync('systemctl', ['stop', ONCE])); // it may be gone
    units.start(BATCH, STUBBORN, DB, APP);
    const evictd = await new Evictd({ config: CONFIG }).guarding();
    await evictd.logged(/a shutdown of the machine waits for evictd/);
    const planned = JSON.parse(
      systemd(process.execPath, EVICTD, 'shutdown', '--plan', '--config', evictd.configFile, '--output', 'json'),
    ) as Groups;
    // A new unit may depend on any of them: evictd asks systemd again, which answers seconds later.
    systemd('systemd-run', '--quiet', `--unit=${ONCE}`, `--slice=${SLICE}`, '--property=Restart=always', 'sleep', 'infinity');
    const frozen = spawn('/bin/sh', ['-c', `echo 1 > ${FREEZE}; echo frozen; sleep 2; echo 0 > ${FREEZE}`]);
    await once(frozen.stdout, 'data');
    systemd('busctl', 'call', ...MANAGER, 'PowerOff', 'b', 'false');
    await evictd.until('the shutdown is called off', () => evictd.journal().some(({ phase }) => phase === 'called-off'), 120_000);

    const begun = evictd.journal().find(({ phase }) => phase === 'begins') as unknown as Groups;
    expect(gracePeriods(begun).filter((each) => !each.startsWith(ONCE))).toEqual(gracePeriods(planned));
    expect(gracePeriods(planned)).toContain(`${BATCH} 45`);
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

  test('get SIGTERM within the grace period also if systemd stops them after another, and a dependency ends with its group', async () => {
    units.writeAll({
      [SLICE]: NODE,
      [BATCH]: small(),
      // systemd would stop it only after the stubborn one.
      [SAVER]: small({
        ExecStart: `/bin/sh -c 'trap "echo term >> ${SEEN}; exit 0" TERM; while :; do sleep 0.2; done'`,
        Restart: 'always',
        TimeoutStopSec: '900',
      }),
      [STUBBORN]: small({ ExecStart: `/bin/sh -c "trap '' TERM; while :; do sleep 1; done"`, TimeoutStopSec: '900' }, { After: SAVER }),
      [DB]: small(),
      [APP]: small({}, { Requires: DB, After: DB }),
    });
    onTestFinished(() => {
      rmSync(SEEN, { force: true });
    });
    units.start(BATCH, SAVER, STUBBORN, DB, APP);
    const config = guardingSlice({
      shutdownGracePeriodByPodPriority: [
        { priority: 0, shutdownGracePeriodSeconds: 24 },
        { priority: 1000, shutdownGracePeriodSeconds: 300 },
      ],
      rules: [{ match: { name: APP }, priority: 1000 }],
    });
    const evictd = await new Evictd({ config }).guarding();
    await evictd.logged(/a shutdown of the machine waits for evictd/);
    const plan = systemd(process.execPath, EVICTD, 'shutdown', '--plan', '--config', evictd.configFile);
    expect(plan).toMatch(new RegExp(`^ *24s +1000 +5m0s +${DB} +0 .* stops ${APP}$`, 'm'));
    systemd('busctl', 'call', ...MANAGER, 'PowerOff', 'b', 'false');
    await evictd.until('the shutdown is called off', () => evictd.journal().some(({ phase }) => phase === 'called-off'), 120_000);

    const ended = evictd.journal().filter(({ type }) => type === 'ended');
    const inWords = ended.map(({ workload, result, group }) => `${(workload as { name: string }).name} ${String(result)} ${String(group)}`);
    expect(inWords.slice(0, 3)).toEqual([`${BATCH} ended 0`, `${SAVER} ended 0`, `${STUBBORN} killed 0`]);
    expect(inWords.slice(3).sort()).toEqual([`${APP} ended 1000`, `${DB} ended 1000`]);
    expect(readFileSync(SEEN, 'utf8')).toBe('term\n');
    expect(property(SAVER, 'ActiveState')).toBe('inactive');
    expect(await evictd.stop()).toBe(0);
  });

  test('have ended after their ExecStop= and ExecStopPost=, and their dependencies end after that', async () => {
    const sees = (line: string): string => `/bin/sh -c 'sleep 1; echo ${line} $$(systemctl is-active ${DB}) >> ${SEEN}'`;
    units.writeAll({
      [SLICE]: NODE,
      [DB]: small(),
      // After the first line of ExecStop= it has no process, and systemd is frozen before the next one.
      [SAVER]: small({
        ExecStop: [`/bin/sh -c 'echo 1 > ${FREEZE}; kill -KILL $$MAINPID'`, sees('stop')],
        ExecStopPost: [sees('post'), sees('last')],
      }),
    });
    onTestFinished(() => {
      rmSync(SEEN, { force: true });
    });
    units.start(SAVER, DB);
    const evictd = await new Evictd({ config: CONFIG }).guarding();
    await evictd.logged(/a shutdown of the machine waits for evictd/);
    const thawing = spawn('/bin/sh', [
      '-c',
      `echo begun; until read frozen < ${FREEZE} && [ $frozen = 1 ]; do sleep 0.1; done; sleep 2; echo 0 > ${FREEZE}`,
    ]);
    await once(thawing.stdout, 'data');
    systemd('busctl', 'call', ...MANAGER, 'PowerOff', 'b', 'false');
    await evictd.until('the shutdown is called off', () => evictd.journal().some(({ phase }) => phase === 'called-off'), 120_000);

    expect(readFileSync(SEEN, 'utf8')).toBe('stop active\npost active\nlast active\n');
    const ended = evictd.journal().filter(({ type }) => type === 'ended');
    expect(ended.map(({ workload, result }) => `${(workload as { name: string }).name} ${String(result)}`)).toEqual([
      `${SAVER} ended`,
      `${DB} ended`,
    ]);
    expect(await evictd.stop()).toBe(0);
  });
});
