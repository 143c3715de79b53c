import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decision } from '../../../src/core/decide/eviction.js';
import type { LimitedCommand } from '../../../src/core/systemd/limited-command.js';
import { endedNotification, openDesktop, userOf } from '../../../src/features/notify/desktop.js';
import { openKernelLogLine } from '../../../src/features/notify/kernel-log-line.js';
import { openKilledSignal } from '../../../src/features/notify/killed-signal.js';
import { openXattrs } from '../../../src/features/notify/xattrs.js';
import { native } from '../../../src/native/index.js';
import { eventually } from '../../support/eventually.js';
import { threshold } from '../../core/support.js';
import { decision, notice, NOTHING, ofPolicy, onlyProcess, outcome, parts, scratch } from './evictions.js';

const unifiedAt = (mountPoint: string) => ({ memory: undefined, unified: { version: 2, controller: '', mountPoint, root: '/' } as const });

test.each<[path: string, uid: number | undefined]>([
  ['/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope', 1000],
  ['/user.slice/user-1000.slice', undefined],
  ['/user.slice/user-x.slice/a.scope', undefined],
  ['/system.slice/user-1000.slice/a.service', undefined],
])('the user who owns %s', (path, uid) => {
  expect(userOf(path)).toBe(uid);
});

const UNIT = '/user.slice/user-1000.slice/user@1000.service/app.slice/a<b&$HOME.scope';

test('the desktop of the user whose unit was ended gets a notification, sent as that user', async () => {
  const runtimes = scratch();
  mkdirSync(join(runtimes, '1000'));
  writeFileSync(join(runtimes, '1000', 'bus'), '');
  const ran: LimitedCommand[] = [];
  const host = {
    openCommandRunner: () => ({ run: (command: LimitedCommand) => (ran.push(command), Promise.resolve(undefined)) }),
    openOomSignal: undefined,
  };
  const { parts: made, reported } = parts({ host });
  const opened = openDesktop(runtimes)({ ...NOTHING, desktop: true }, made);
  opened?.over?.(outcome(decision({ path: '/user.slice/user-1001.slice/session.scope' })));
  opened?.over?.(outcome(decision({ path: '/system.slice/a.service' })));
  opened?.over?.(outcome(decision({ path: UNIT, name: 'a<b&$HOME.scope' }), 'failed'));
  expect(ran).toEqual([]);
  opened?.over?.(outcome(decision({ path: UNIT, name: 'a<b&$HOME.scope' })));
  await eventually('it is reported', () => reported.length > 0);
  expect(reported).toEqual(['sent']);
  expect(ran).toMatchObject([{ uid: 1000, environment: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtimes}/1000/bus` } }]);
  expect(ran[0]?.argv.slice(0, 6)).toEqual(['/usr/bin/busctl', '--user', '--timeout=5', '--quiet', '--', 'call']);
  expect(ran[0]?.argv.slice(-11, -2)).toEqual([
    ...['evictd', '0', 'dialog-warning', 'a<b&$HOME.scope was ended'],
    'The machine was short of memory, and evictd ended a&lt;b&amp;$HOME.scope. It used 200MiB of memory.',
    ...['0', '1', 'urgency', 'y'],
  ]);
  for (const scope of ['', '/system.slice/a.service', '/user.slice', '/user.slice/user-1001.slice']) opened?.noticed?.(notice(scope));
  opened?.noticed?.(notice('/user.slice/user-1000.slice'));
  opened?.noticed?.(notice('/user.slice/user-1000.slice/user@1000.service/a<b.slice'));
  await eventually('both are reported', () => reported.length > 2);
  expect(reported).toEqual(['sent', 'sent', 'sent']);
  expect(ran.slice(1).map(({ uid, argv }) => [uid, ...argv.slice(-8, -6)])).toEqual([
    [1000, 'Policy leaks', 'policy leaks on /user.slice/user-1000.slice: age &gt; 2h (age 3h)'],
    [1000, 'Policy leaks', 'policy leaks on /user.slice/user-1000.slice/user@1000.service/a&lt;b.slice: age &gt; 2h (age 3h)'],
  ]);
});

test('the desktop notification names the process, where only one ends', () => {
  const { victim } = decision({ path: UNIT, name: 'a.scope' });
  expect(endedNotification({ ...decision(), victim: onlyProcess(victim) })).toEqual({
    summary: 'leak (4711) of a.scope was ended',
    body: 'The machine was short of memory, and evictd ended leak (4711) of a.scope. It used 150MiB of memory.',
  });
});

test('notifications are limited in number while a bus hangs', () => {
  const runtimes = scratch();
  mkdirSync(join(runtimes, '1000'));
  writeFileSync(join(runtimes, '1000', 'bus'), '');
  const host = { openCommandRunner: () => ({ run: () => new Promise<undefined>(() => undefined) }), openOomSignal: undefined };
  const { parts: made, reported } = parts({ host });
  const opened = openDesktop(runtimes)({ ...NOTHING, desktop: true }, made);
  for (let count = 0; count < 6; count++) opened?.over?.(outcome(decision({ path: UNIT })));
  expect(reported).toEqual(['dropped: 4 desktop notifications are in flight', 'dropped: 4 desktop notifications are in flight']);
});

test("the line in the kernel log is in oomd's format, with the pressure before the eviction", () => {
  const cgroups = scratch();
  mkdirSync(join(cgroups, 'batch.slice', 'job'), { recursive: true });
  const file = join(cgroups, 'batch.slice', 'job', 'memory.pressure');
  writeFileSync(file, 'some avg10=1.00 avg60=1.00 avg300=1.00 total=1\nfull avg10=10.13 avg60=9.52 avg300=4.20 total=1\n');
  const log = join(cgroups, 'kmsg');
  appendFileSync(log, '');
  const { parts: made, reported } = parts({ hierarchies: unifiedAt(cgroups) });
  const opened = openKernelLogLine(log)({ ...NOTHING, kernelLog: true }, made);
  const evicted = decision({ path: '/batch.slice/job' });
  opened?.before?.(evicted);
  writeFileSync(file, '');
  opened?.over?.(outcome(evicted, 'vanished'));
  opened?.before?.({ ...evicted, serial: 8 });
  expect(readFileSync(log, 'utf8')).toBe('');
  writeFileSync(file, 'full avg10=10.13 avg60=9.52 avg300=4.20 total=1\n');
  opened?.before?.({ ...evicted, serial: 9 });
  opened?.over?.(outcome({ ...evicted, serial: 9 }));
  expect(readFileSync(log, 'utf8')).toBe(
    'oomd kill: 10.13 9.52 4.20 batch.slice/job 209715200 ruleset:[memory.available] detectorgroup:[hard] killer:evictd v2\n',
  );
  expect(reported).toEqual(['sent']);
});

test('the line for a policy has its name and its cgroup, and the process where only one ends', () => {
  const line = (of: Decision): string => {
    const log = join(scratch(), 'kmsg');
    writeFileSync(log, '');
    openKernelLogLine(log)({ ...NOTHING, kernelLog: true }, parts().parts)?.over?.(outcome(of));
    return readFileSync(log, 'utf8');
  };
  const whole = ofPolicy({ 'memory.pressure.full': 0.5 }, { path: '/a' });
  const about = 'ruleset:[desktop] detectorgroup:[memory-pressure]';
  expect(line(whole)).toBe(`oomd kill: 0.00 0.00 0.00 a 209715200 ${about} killer:evictd v2\n`);
  const one = { ...whole, victim: onlyProcess(whole.victim) };
  expect(line(one)).toBe(`oomd kill: 0.00 0.00 0.00 a 157286400 ${about} killer:evictd process:4711(leak) v2\n`);
});

test('the D-Bus signal of systemd-oomd names the cgroup that a policy acted on, and is not sent where only one process ends', () => {
  const killed: string[] = [];
  const openOomSignal = () => ({
    killed: (cgroup: string, reason: string) => void killed.push(`${cgroup} ${reason}`),
    close: () => undefined,
  });
  const host = { openCommandRunner: () => ({ run: () => Promise.resolve(undefined) }), openOomSignal };
  const { parts: made, reported } = parts({ host } as unknown as Parameters<typeof parts>[0]);
  const opened = openKilledSignal({ ...NOTHING, killedSignal: true }, made);
  opened?.over?.(outcome(decision({ path: '/a' })));
  opened?.over?.(outcome(ofPolicy({ 'swap.available': 1 }, { path: '/b' })));
  const whole = ofPolicy({ 'memory.pressure.full': 0.5 }, { path: '/c' });
  opened?.over?.(outcome(whole));
  opened?.over?.(outcome({ ...whole, victim: onlyProcess(whole.victim) }));
  const stalled = decision({ path: '/d' });
  const cause = { ...stalled.cause, threshold: threshold('memory.pressure.full', '30%') } as Decision['cause'];
  opened?.over?.(outcome({ ...stalled, cause }));
  expect(killed).toEqual(['/a memory-used', '/b swap-used', '/c memory-pressure', '/d memory-pressure']);
  expect(reported).toEqual(['sent', 'sent', 'sent', 'sent']);
});

test('a kernel log that cannot be written is reported, and a name cannot start a second line', () => {
  const { parts: made, reported } = parts();
  openKernelLogLine('/no/such/kmsg')({ ...NOTHING, kernelLog: true }, made)?.over?.(outcome());
  expect(reported).toEqual([expect.stringMatching(/^failed: ENOENT/)]);
  const log = join(scratch(), 'kmsg');
  writeFileSync(log, '');
  openKernelLogLine(log)({ ...NOTHING, kernelLog: true }, made)?.over?.(outcome(decision({ path: `/a\nb${'c'.repeat(2_000)}` })));
  expect(readFileSync(log, 'utf8').split('\n')).toHaveLength(2);
  expect(readFileSync(log).length).toBeLessThan(1_000);
});

test('extended attributes count evictions and processes, before the signal', () => {
  const cgroups = scratch();
  const cgroup = join(cgroups, 'batch.slice', 'job');
  mkdirSync(join(cgroup, 'inner', 'most'), { recursive: true });
  for (const [path, pids] of [
    ['', '1\n2\n'],
    ['inner', ''],
    ['inner/most', '3\n'],
  ] as const)
    writeFileSync(join(cgroup, path, 'cgroup.procs'), pids);
  const { parts: made, reported } = parts({ hierarchies: unifiedAt(cgroups) });
  const opened = openXattrs({ ...NOTHING, xattrs: true }, made);
  const value = (name: string): string | undefined => native.getxattr(cgroup, name)?.toString();
  opened?.before?.(decision({ path: '/batch.slice/job' }));
  expect([value('user.oomd_ooms'), value('user.oomd_kill')]).toEqual(['1', '3']);
  opened?.before?.(decision({ path: '/batch.slice/job' }));
  expect([value('user.oomd_ooms'), value('user.oomd_kill')]).toEqual(['2', '6']);
  native.setxattr(cgroup, 'user.oomd_ooms', 'nonsense');
  opened?.before?.(decision({ path: '/batch.slice/job' }));
  expect(value('user.oomd_ooms')).toBe('1');
  opened?.before?.(decision({ path: '/no/such' }));
  expect(reported).toEqual(['sent', 'sent', 'sent', expect.stringMatching(/^failed: .*ENOENT/)]);
  const one = decision({ path: '/batch.slice/job' });
  opened?.before?.({ ...one, victim: onlyProcess(one.victim) });
  expect(value('user.oomd_ooms')).toBe('1'); // the unit goes on
});

test('without cgroup2 there are no extended attributes', () => {
  const { parts: made, reported } = parts();
  openXattrs({ ...NOTHING, xattrs: true }, made)?.before?.(decision());
  expect(reported).toEqual(['failed: cgroup2 is not mounted, and only its cgroups have such attributes']);
});

test('a receiver that is not configured is not opened', () => {
  const { parts: made } = parts();
  expect([openXattrs, openDesktop(), openKernelLogLine()].map((open) => open(NOTHING, made))).toEqual([undefined, undefined, undefined]);
});
