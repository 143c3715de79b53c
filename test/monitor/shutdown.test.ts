import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCgroupEvictor } from '../../src/actions/kill-cgroup.js';
import type { Rule } from '../../src/core/rule.js';
import type { ShutdownGracePeriod } from '../../src/core/shutdown-config.js';
import { readHierarchies } from '../../src/host/linux/hierarchies.js';
import type { Evictor, WorkloadSource } from '../../src/monitor/ports.js';
import type { JournalRecord } from '../../src/monitor/record.js';
import { Shutdown } from '../../src/monitor/shutdown.js';
import { native } from '../../src/native/index.js';
import { openWorkloads } from '../../src/workloads/cgroup.js';
import { SECOND } from '../core/support.js';
import { workload, type Workload, type WorkloadPlan } from '../e2e/node.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';

// Real processes in real cgroups, ended by what ends them in a run. Who says that the machine goes down is played: test/systemd has logind.

const CRITICAL_PRIORITY = 2_000_000_000;
const LONG_NS = 60n * SECOND;
const SHORT_NS = SECOND / 5n;
const HOUR_NS = 3_600n * SECOND;

let node: TestCgroup;
let source: WorkloadSource;
let shutdown: Shutdown;
let records: JournalRecord[];
/** What others were told, in order. */
let told: string[];

beforeEach(() => {
  node = testCgroup();
  records = [];
  told = [];
});
afterEach(async () => {
  shutdown.close();
  source.close();
  await node.cleanup();
});

const hierarchies = readHierarchies();
const cgroups = openCgroupEvictor(native, hierarchies);

interface Options {
  readonly rules?: readonly Rule[];
  readonly dryRun?: boolean;
  readonly evictor?: Evictor;
}

function open({ rules = [], dryRun = false, evictor = cgroups }: Options = {}): void {
  const hierarchy = memoryHierarchy();
  const identity = { name: node.path, cgroup: node.path, cgroupVersion: hierarchy.version };
  source = openWorkloads({ workloads: [{ cgroup: node.path }], rules }, native, { identity, hierarchy });
  const say = (message: string): number => told.push(message);
  shutdown = new Shutdown({
    workloads: source,
    evictor,
    journal: { record: (record) => records.push(record) },
    log: { info: (message) => void say(`info: ${message}`), warn: (message) => void say(`warn: ${message}`) },
    dryRun,
    release: () => void say('released'),
    changed: (lasts) => void say(lasts ? 'begins' : 'called off'),
    over: () => void say('over'),
  });
}

const groups = (...periods: (readonly [priority: number, gracePeriodNs: bigint])[]): readonly ShutdownGracePeriod[] =>
  periods.map(([priority, gracePeriodNs]) => ({ priority, gracePeriodNs }));
const critical = (name: string): Rule => ({ match: { name }, critical: true });
const start = (name: string, plan: WorkloadPlan = {}): Promise<Workload> => workload(node.child(name), plan);
/** Those that have ended, in order, and how. */
const ends = (): string[] =>
  records.filter(({ type }) => type === 'ended').map((end) => `${(end.workload as { name: string }).name} ${String(end.result)}`);
const phase = (name: string): JournalRecord | undefined => records.find((record) => record.type === 'shutdown' && record.phase === name);
const released = (): Promise<boolean> => eventually('the machine may go down', () => told.includes('released'));

test('group by group, the critical one last; the next one as soon as the last of one has ended', async () => {
  const [db, web, batch] = [await start('db'), await start('web', { onTerm: 'exit' }), await start('batch')];
  open({ rules: [critical('db'), { match: { name: 'web' }, priority: 10 }] });
  shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  expect(told[0]).toBe('begins');
  await released();
  expect(ends()).toEqual(['batch ended', 'web ended', 'db ended']);
  expect(await Promise.all([db, web, batch].map(({ ended }) => ended))).toEqual(['SIGTERM', null, 'SIGTERM']);
  expect(phase('begins')).toMatchObject({
    groups: [
      { priority: 0, gracePeriodSeconds: 3600, workloads: [{ name: 'batch', critical: false }] },
      { priority: 10, workloads: [{ name: 'web' }] },
      { priority: CRITICAL_PRIORITY, workloads: [{ name: 'db', critical: true }] },
    ],
  });
  expect(phase('over')).toMatchObject({ inTime: true, ended: 3, left: [], late: [] });
  expect(records.at(-1)).toBe(phase('over'));
  expect(told.slice(-2)).toEqual(['over', 'released']);
});

test('who does not end is killed when its own time is over, and the group goes on with the others', async () => {
  const stubborn = await start('stubborn', { onTerm: 'ignore' });
  const slow = await start('slow', { onTerm: 'say' });
  open({ rules: [{ match: { name: 'stubborn' }, terminationGracePeriodNs: SHORT_NS }] });
  shutdown.begin(groups([0, HOUR_NS]));
  expect(await stubborn.ended).toBe('SIGKILL');
  await eventually('its end is in the journal', () => ends().length > 0);
  expect(ends()).toEqual(['stubborn killed']);
  expect(records.at(-1)).toMatchObject({ type: 'ended', inTime: false, gracePeriodSeconds: 0.2, group: 0 });
  expect([slow.alive, slow.said().includes('term'), told.includes('released')]).toEqual([true, true, false]);
  slow.child.kill('SIGKILL');
  await released();
  expect(phase('over')).toMatchObject({ inTime: false, ended: 2, notInTime: [{ name: 'stubborn' }] });
});

test('who does not end is killed when the time of its group is over, and the next group begins', async () => {
  const stubborn = await start('stubborn', { onTerm: 'ignore' });
  const db = await start('db');
  open({ rules: [critical('db'), { match: { name: 'stubborn' }, terminationGracePeriodNs: LONG_NS }] });
  shutdown.begin(groups([0, SHORT_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  expect([await stubborn.ended, await db.ended]).toEqual(['SIGKILL', 'SIGTERM']);
  await released();
  expect(ends().sort()).toEqual(['db ended', 'stubborn killed']);
});

test('a group without time is killed at once', async () => {
  const quick = await start('quick', { onTerm: 'ignore' });
  open();
  shutdown.begin(groups([0, 0n]));
  expect(await quick.ended).toBe('SIGKILL');
  await released();
  expect(ends()).toEqual(['quick killed']);
});

test('nobody is touched who is exempt, and who comes too late is named', async () => {
  const ssh = await start('ssh.service');
  const batch = await start('batch');
  const db = await start('db', { onTerm: 'say' });
  open({ rules: [critical('db')] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await batch.ended;
  await eventually('the critical one is told', () => db.said().includes('term'));
  const late = await start('late');
  db.child.kill('SIGKILL');
  await released();
  expect([ssh.alive, late.alive]).toEqual([true, true]);
  expect(phase('begins')).toMatchObject({
    leftAlone: [{ name: 'ssh.service', why: expect.stringContaining('protected unit') as unknown }],
  });
  expect(phase('over')).toMatchObject({ inTime: true, late: [{ name: 'late' }] });
});

test('who comes before the turn of its group ends with it', async () => {
  const batch = await start('batch', { onTerm: 'say' });
  open({ rules: [{ match: { name: 'web*' }, priority: 10 }] });
  shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS]));
  await eventually('the first is told', () => batch.said().includes('term'));
  const web = await start('web');
  batch.child.kill('SIGKILL');
  expect(await web.ended).toBe('SIGTERM');
  await released();
});

test('called off: nobody else is ended or killed, and who was is named', async () => {
  const quick = await start('quick');
  const slow = await start('slow', { onTerm: 'say' });
  const db = await start('db');
  open({ rules: [critical('db'), { match: { name: 'slow' }, terminationGracePeriodNs: 2n * SECOND }] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await quick.ended;
  await eventually('that is seen', () => ends().length === 1);
  await eventually('the other one was told', () => slow.said().includes('term'));
  shutdown.callOff();
  expect(phase('called-off')).toMatchObject({ ended: [{ name: 'quick' }], told: [{ name: 'slow' }] });
  expect(told.slice(-2)).toEqual(['over', 'called off']);
  expect(shutdown.lasts).toBe(false);
  await new Promise((done) => setTimeout(done, 2_300)); // longer than what was left of its time
  expect([slow.alive, db.alive, told.includes('released')]).toEqual([true, true, false]);
  shutdown.begin(groups([0, 0n], [CRITICAL_PRIORITY, HOUR_NS])); // the next one is another
  expect([await slow.ended, await db.ended]).toEqual(['SIGKILL', 'SIGTERM']);
  await released();
});

test('called off when all have ended', async () => {
  await start('batch');
  open();
  shutdown.begin(groups([0, HOUR_NS]));
  await released();
  expect(shutdown.lasts).toBe(true);
  shutdown.callOff();
  expect(phase('called-off')).toMatchObject({ ended: [{ name: 'batch' }], told: [] });
  expect([shutdown.lasts, told.at(-1)]).toEqual([false, 'called off']);
});

test('said twice it begins once; when it is over the machine may go down all the same', async () => {
  await start('batch');
  open();
  shutdown.begin(groups([0, HOUR_NS]));
  shutdown.begin(groups([0, HOUR_NS]));
  await released();
  expect(records.filter(({ type }) => type === 'shutdown').map((record) => record.phase)).toEqual(['begins', 'over']);
  told = [];
  shutdown.begin(groups([0, HOUR_NS]));
  expect(told).toEqual(['released']);
});

test('evictd ends in the middle: nobody is killed by it any more', async () => {
  const slow = await start('slow', { onTerm: 'say' });
  open({ rules: [{ match: { name: 'slow' }, terminationGracePeriodNs: 2n * SECOND }] });
  shutdown.begin(groups([0, HOUR_NS]));
  await eventually('it was told', () => slow.said().includes('term'));
  shutdown.stop();
  shutdown.stop();
  expect(records.filter(({ phase }) => phase === 'interrupted')).toMatchObject([{ ended: [], told: [{ name: 'slow' }] }]);
  await new Promise((done) => setTimeout(done, 2_300)); // longer than what was left of its time
  expect(slow.alive).toBe(true);
});

test('a dry run decides and records, touches nobody and holds nothing', async () => {
  const batch = await start('batch');
  open({ dryRun: true });
  shutdown.begin(groups([0, HOUR_NS]));
  expect([told.includes('released'), shutdown.lasts]).toEqual([true, true]);
  expect(records.map((record) => record.phase)).toEqual(['begins']);
  expect(phase('begins')).toMatchObject({ groups: [{ workloads: [{ name: 'batch' }] }] });
  expect(batch.alive).toBe(true);
});

test('nobody is there: the machine may go down at once', () => {
  open();
  shutdown.begin(groups([0, HOUR_NS]));
  expect(told.at(-1)).toBe('released');
  expect(phase('over')).toMatchObject({ inTime: true, ended: 0 });
});

test('who cannot be ended holds up nobody else', async () => {
  const [batch, db] = [await start('batch'), await start('db')];
  const evictor: Evictor = {
    begin: (victim, ...rest) => {
      if (victim.name === 'batch') throw new Error('EACCES');
      return cgroups.begin(victim, ...rest);
    },
  };
  open({ rules: [critical('db')], evictor });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  expect(await db.ended).toBe('SIGTERM');
  await released();
  expect(ends()).toEqual(['batch left', 'db ended']);
  expect(batch.alive).toBe(true);
  expect(phase('over')).toMatchObject({ inTime: false, left: [{ name: 'batch' }] });
});
