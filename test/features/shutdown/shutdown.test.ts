import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import type { Rule } from '../../../src/core/workload/rule.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import type { ShutdownGracePeriod } from '../../../src/core/workload/shutdown-config.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { Evictor, WorkloadSource } from '../../../src/monitor/ports/ports.js';
import type { JournalRecord } from '../../../src/journal/records/record.js';
import { Shutdown } from '../../../src/features/shutdown/shutdown.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { SECOND } from '../../core/support.js';
import { workload, type Workload, type WorkloadPlan } from '../../e2e/node.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { SLOWNESS } from '../../support/slowness.js';

// Real processes in real cgroups, ended as in a run. The begin of the shutdown is played: test/systemd has logind.

const CRITICAL_PRIORITY = 2_000_000_000;
const LONG_NS = 60n * SECOND;
const SHORT_NS = SECOND / 5n;
const HOUR_NS = 3_600n * SECOND;
/** Longer than a signal and a reading take. */
const GRACE_NS = BigInt(Math.ceil(3 * SLOWNESS)) * SECOND;

let node: TestCgroup;
let source: WorkloadSource;
let shutdown: Shutdown;
let records: JournalRecord[];
/** The signals of the workloads, in order. */
let reported: string[];

beforeEach(() => {
  node = testCgroup();
  records = [];
  reported = [];
});
afterEach(async () => {
  shutdown.stop();
  source.close();
  await node.cleanup();
});

const hierarchies = readHierarchies();
const cgroups = openCgroupEvictor(native, hierarchies);

interface Options {
  readonly rules?: readonly Rule[];
  /** Cgroups whose children are workloads, too. */
  readonly beside?: readonly string[];
  readonly dryRun?: boolean;
  readonly evictor?: Evictor;
  /** Answers of the candidates beside those of the source. */
  readonly also?: Pick<Candidates, 'awaited' | 'veto'>;
  /** Runtimes that have not reported yet. */
  readonly awaitedRuntimes?: () => readonly string[];
  /** Whether reading the candidates fails. */
  readonly isUnreadable?: () => boolean;
  readonly journal?: (record: JournalRecord) => void;
}

/** The workloads in these cgroups, by these rules. */
function sourceOf(rules: readonly Rule[], ...cgroups: readonly string[]): WorkloadSource {
  const hierarchy = memoryHierarchy();
  const identity = { name: node.path, cgroup: node.path, cgroupVersion: hierarchy.version };
  return openWorkloads({ workloads: cgroups.map((cgroup) => ({ cgroup })), rules }, native, { identity, hierarchy });
}

function reload(rules: readonly Rule[], cgroup = node.path): void {
  source.close();
  source = sourceOf(rules, cgroup);
}

function open({
  rules = [],
  beside = [],
  dryRun = false,
  evictor = cgroups,
  also = {},
  awaitedRuntimes = () => [],
  isUnreadable = () => false,
  journal = () => undefined,
}: Options = {}): void {
  source = sourceOf(rules, node.path, ...beside);
  const say = (message: string): number => reported.push(message);
  shutdown = new Shutdown({
    workloads: {
      candidates: () => {
        if (isUnreadable()) throw new Error('EMFILE');
        return { ...source.candidates(), awaitedRuntimes: awaitedRuntimes(), ...also };
      },
    },
    evictor,
    journal: {
      record: (record) => {
        records.push(record);
        journal(record);
      },
    },
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
/** Workloads that have ended, in order, with their result. */
const ends = (): string[] =>
  records.filter(({ type }) => type === 'ended').map((end) => `${(end.workload as { name: string }).name} ${end.result as string}`);
const phase = (name: string): JournalRecord | undefined => records.find((record) => record.type === 'shutdown' && record.phase === name);
/** A workload with an earlier SIGTERM would be dead by now. */
const beyondGrace = (): Promise<void> => pause(Number(GRACE_NS / 1_000_000n) + 300 * SLOWNESS);
const released = (): Promise<boolean> => eventually('the machine may go down', () => reported.includes('released'));

test('groups end one by one, the critical one last, and the next begins when the last workload of one has ended', async () => {
  const [db, web, batch] = [await start('db'), await start('web', { onTerm: 'exit' }), await start('batch')];
  open({ rules: [critical('db'), { match: { name: 'web' }, priority: 10 }] });
  shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  expect(reported[0]).toBe('begins');
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
  expect(phase('over')).toMatchObject({ inTime: true, ended: 3, survived: [], late: [] });
  expect(records.at(-1)).toBe(phase('over'));
  expect(reported.slice(-2)).toEqual(['over', 'released']);
});

test('a workload that does not end is killed after its own grace period, while the group waits for the others', async () => {
  const stubborn = await start('stubborn', { onTerm: 'ignore' });
  const slow = await start('slow', { onTerm: 'say' });
  open({ rules: [{ match: { name: 'stubborn' }, terminationGracePeriodNs: SECOND }] });
  shutdown.begin(groups([0, HOUR_NS]));
  expect(await stubborn.ended).toBe('SIGKILL');
  await eventually('its end is in the journal', () => ends().length > 0);
  expect(ends()).toEqual(['stubborn killed']);
  expect(records.at(-1)).toMatchObject({ type: 'ended', inTime: false, gracePeriodSeconds: 1, group: 0 });
  await eventually('the other one has got SIGTERM', () => slow.said().includes('term'));
  expect([slow.alive, reported.includes('released')]).toEqual([true, false]);
  slow.child.kill('SIGKILL');
  await released();
  expect(phase('over')).toMatchObject({ inTime: false, ended: 2, notInTime: [{ name: 'stubborn' }] });
});

test('a reload during a shutdown gives workloads without SIGTERM the new rules, and the others still end', async () => {
  const slow = await start('slow', { onTerm: 'ignore' });
  const [db, web, api] = [await start('db'), await start('web'), await start('api')];
  const slowly: Rule = { match: { name: 'slow' }, terminationGracePeriodNs: SECOND };
  const next: readonly Rule[] = ['web', 'api'].map((name) => ({ match: { name }, priority: 10 }));
  open({ rules: [slowly, critical('db'), ...next] });
  shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  reload([critical('slow'), critical('web'), { match: { name: 'api' }, priority: 10 }]);
  expect(await Promise.all([slow, api, web, db].map(({ ended }) => ended))).toEqual(['SIGKILL', 'SIGTERM', 'SIGTERM', 'SIGTERM']);
  await released();
  expect([ends().slice(0, 2), ends().slice(2).sort()]).toEqual([
    ['slow killed', 'api ended'],
    ['db ended', 'web ended'], // the new rules would have changed the order
  ]);
  expect(phase('over')).toMatchObject({ late: [] });
});

test('after a reload during a shutdown a workload that is in no source any more gets no SIGTERM', async () => {
  const [web, db] = [await start('web', { onTerm: 'say' }), await start('db')];
  open({ rules: [critical('db')] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await eventually('the workload has got SIGTERM', () => web.said().includes('term'));
  reload([], `${node.path}/web`);
  web.child.kill('SIGKILL');
  await released();
  expect([ends(), phase('over')?.late, db.alive]).toEqual([['web ended'], [], true]);
});

test('a workload that does not end is killed when the time of its group is over, and the next group begins', async () => {
  const stubborn = await start('stubborn', { onTerm: 'ignore' });
  const db = await start('db');
  open({ rules: [critical('db'), { match: { name: 'stubborn' }, terminationGracePeriodNs: LONG_NS }] });
  shutdown.begin(groups([0, SHORT_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  expect([await stubborn.ended, await db.ended]).toEqual(['SIGKILL', 'SIGTERM']);
  await released();
  expect(ends().sort()).toEqual(['db ended', 'stubborn killed']);
});

test('a group without time gets SIGTERM, and is neither killed nor waited for', async () => {
  const db = await start('db', { onTerm: 'say' });
  const batch = await start('batch');
  open({ rules: [critical('db')] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, 0n]));
  await batch.ended;
  await released();
  expect(ends()).toEqual(['batch ended', 'db signalled']);
  await eventually('the workload has got SIGTERM', () => db.said().includes('term'));
  await new Promise((done) => setTimeout(done, 1_300)); // longer than the shortest grace period
  expect(db.alive).toBe(true);
  expect(phase('over')).toMatchObject({ inTime: true, ended: 1, signalled: [{ name: 'db' }], survived: [] });
});

test('a workload of a group without time is killed after a second, while the next group ends', async () => {
  const stubborn = await start('stubborn', { onTerm: 'ignore' });
  const db = await start('db', { onTerm: 'say' });
  open({ rules: [critical('db')] });
  shutdown.begin(groups([0, 0n], [CRITICAL_PRIORITY, HOUR_NS]));
  await eventually('the next one has got SIGTERM', () => db.said().includes('term'));
  expect(await stubborn.ended).toBe('SIGKILL');
  await eventually('its end is in the journal', () => ends().includes('stubborn killed'));
  expect(records.at(-1)?.afterSeconds).toBeGreaterThanOrEqual(1);
  db.child.kill('SIGKILL');
  await released();
});

test('exempt workloads get no signal, and workloads that start too late are named', async () => {
  const ssh = await start('ssh.service');
  const batch = await start('batch');
  const db = await start('db', { onTerm: 'say' });
  open({ rules: [critical('db')] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await batch.ended;
  await eventually('the critical one has got SIGTERM', () => db.said().includes('term'));
  const late = await start('late');
  db.child.kill('SIGKILL');
  await released();
  expect([ssh.alive, late.alive]).toEqual([true, true]);
  expect(phase('begins')).toMatchObject({
    leftAlone: [{ name: 'ssh.service', why: expect.stringContaining('protected unit') as unknown }],
  });
  expect(phase('over')).toMatchObject({ inTime: true, late: [{ name: 'late' }] });
});

test('a workload that starts before its group begins ends with it', async () => {
  const batch = await start('batch', { onTerm: 'say' });
  open({ rules: [{ match: { name: 'web*' }, priority: 10 }] });
  shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS]));
  await eventually('the first has got SIGTERM', () => batch.said().includes('term'));
  const web = await start('web');
  batch.child.kill('SIGKILL');
  expect(await web.ended).toBe('SIGTERM');
  await released();
});

describe('a workload that contains others', () => {
  test('ends with the last of these, and after them', async () => {
    const team = node.child('team');
    const [db, job] = [await workload(team.child('db'), { onTerm: 'say' }), await workload(team.child('job'))];
    // On v2 a cgroup with children has no processes.
    const lead = memoryHierarchy().version === 1 ? await workload(team, { onTerm: 'say' }) : undefined;
    const rules = [
      { match: { name: 'db' }, priority: 10 },
      { match: { name: 'team' }, terminationGracePeriodNs: GRACE_NS },
    ];
    open({ beside: [team.path], rules });
    shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS]));
    await job.ended;
    await eventually('the one in it has got SIGTERM', () => db.said().includes('term'));
    await beyondGrace();
    expect([db.alive, db.said(), lead?.said().includes('term') ?? false]).toEqual([true, 'ready\nterm\n', false]);
    db.child.kill('SIGKILL');
    if (lead) {
      await eventually('the workload has got SIGTERM', () => lead.said().includes('term'));
      lead.child.kill('SIGKILL');
    }
    await released();
    expect(ends()).toEqual(['job ended', 'db ended', ...(lead ? ['team ended'] : [])]);
    expect(phase('over')).toMatchObject({ inTime: true, late: [] });
  });

  test('does not outlast the time of the group', async () => {
    const team = node.child('team');
    const db = await workload(team.child('db'), { onTerm: 'ignore' });
    const lead = memoryHierarchy().version === 1 ? await workload(team, { onTerm: 'ignore' }) : undefined;
    open({ beside: [team.path] });
    shutdown.begin(groups([0, GRACE_NS]));
    expect(await Promise.all([db.ended, lead?.ended ?? 'SIGKILL'])).toEqual(['SIGKILL', 'SIGKILL']);
    await released();
    expect(phase('over')).toMatchObject({ survived: [], late: [] });
  });

  test('gets SIGTERM with its group although the others have ended earlier', async () => {
    const team = node.child('team');
    const [batch, db] = [await start('batch', { onTerm: 'say' }), await workload(team.child('db'))];
    if (memoryHierarchy().version === 1) await workload(team);
    open({ beside: [team.path], rules: [{ match: { name: 'db' }, priority: 10 }] });
    shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS]));
    await eventually('the first group has got SIGTERM', () => batch.said().includes('term'));
    db.child.kill('SIGKILL');
    await db.ended;
    batch.child.kill('SIGKILL');
    await released();
    expect(phase('over')).toMatchObject({ inTime: true, late: [] });
    expect(ends()).toEqual(['batch ended', 'db already-ended', ...(memoryHierarchy().version === 1 ? ['team ended'] : [])]);
  });
});

test('a workload that ended by itself before its group is in the journal when the group begins, as ended in time', async () => {
  const [batch, web] = [await start('batch', { onTerm: 'say' }), await start('web')];
  await start('db');
  open({ rules: [critical('db'), { match: { name: 'web' }, priority: 10 }] });
  shutdown.begin(groups([0, HOUR_NS], [10, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await eventually('the first group has got SIGTERM', () => batch.said().includes('term'));
  web.child.kill('SIGKILL');
  await web.ended;
  batch.child.kill('SIGKILL');
  await released();
  expect(ends()).toEqual(['batch ended', 'web already-ended', 'db ended']);
  expect(records.filter(({ type }) => type === 'ended').at(1)).toMatchObject({ group: 10, inTime: true, afterSeconds: 0 });
  expect(phase('over')).toMatchObject({ inTime: true, ended: 3, late: [] });
});

test('a critical workload that ended by itself before the last group is in the journal, too', async () => {
  const [batch, db] = [await start('batch', { onTerm: 'say' }), await start('db')];
  open({ rules: [critical('db')] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await eventually('the first group has got SIGTERM', () => batch.said().includes('term'));
  db.child.kill('SIGKILL');
  await db.ended;
  batch.child.kill('SIGKILL');
  await released();
  expect(ends()).toEqual(['batch ended', 'db already-ended']);
  expect(records.filter(({ type }) => type === 'ended').at(-1)).toMatchObject({ group: CRITICAL_PRIORITY, inTime: true, afterSeconds: 0 });
  expect(phase('over')).toMatchObject({ inTime: true, ended: 2, late: [] });
});

test('after a cancellation no further workload is ended or killed, and the ended ones are named', async () => {
  const quick = await start('quick');
  const slow = await start('slow', { onTerm: 'say' });
  const db = await start('db');
  open({ rules: [critical('db'), { match: { name: 'slow' }, terminationGracePeriodNs: GRACE_NS }] });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await quick.ended;
  await eventually('that is seen', () => ends().length === 1);
  await eventually('the other one has got SIGTERM', () => slow.said().includes('term'));
  shutdown.callOff();
  expect(phase('called-off')).toMatchObject({ ended: [{ name: 'quick' }], signalled: [{ name: 'slow' }] });
  expect(reported.slice(-2)).toEqual(['over', 'called off']);
  expect(shutdown.lasts).toBe(false);
  await beyondGrace();
  expect([slow.alive, db.alive, reported.includes('released')]).toEqual([true, true, false]);
  shutdown.begin(groups([0, SHORT_NS], [CRITICAL_PRIORITY, HOUR_NS])); // the next one has another id
  expect([await slow.ended, await db.ended]).toEqual(['SIGKILL', 'SIGTERM']);
  await released();
});

test('a shutdown may be cancelled after all workloads have ended', async () => {
  await start('batch');
  open();
  shutdown.begin(groups([0, HOUR_NS]));
  await released();
  expect(shutdown.lasts).toBe(true);
  shutdown.callOff();
  expect(phase('called-off')).toMatchObject({ ended: [{ name: 'batch' }], signalled: [] });
  expect([shutdown.lasts, reported.at(-1)]).toEqual([false, 'called off']);
});

test('a shutdown that is announced twice begins once, and does not delay the machine after its end', async () => {
  await start('batch');
  open();
  shutdown.begin(groups([0, HOUR_NS]));
  shutdown.begin(groups([0, HOUR_NS]));
  await released();
  expect(records.filter(({ type }) => type === 'shutdown').map((record) => record.phase)).toEqual(['begins', 'over']);
  reported = [];
  shutdown.begin(groups([0, HOUR_NS]));
  expect(reported).toEqual(['released']);
});

test('evictd that stops during a shutdown kills no further workload', async () => {
  const slow = await start('slow', { onTerm: 'say' });
  open({ rules: [{ match: { name: 'slow' }, terminationGracePeriodNs: GRACE_NS }] });
  shutdown.begin(groups([0, HOUR_NS]));
  await eventually('the workload has got SIGTERM', () => slow.said().includes('term'));
  shutdown.stop();
  shutdown.stop();
  expect(records.filter(({ phase }) => phase === 'interrupted')).toMatchObject([{ ended: [], signalled: [{ name: 'slow' }] }]);
  await beyondGrace();
  expect(slow.alive).toBe(true);
});

test('a dry run decides and records, sends no signal and delays nothing', async () => {
  const batch = await start('batch');
  open({ dryRun: true });
  shutdown.begin(groups([0, HOUR_NS]));
  expect([reported.includes('released'), shutdown.lasts]).toEqual([true, true]);
  expect(records.map((record) => record.phase)).toEqual(['begins']);
  expect(phase('begins')).toMatchObject({ groups: [{ workloads: [{ name: 'batch' }] }] });
  expect(batch.alive).toBe(true);
});

describe('a workload for which systemd has not answered yet', () => {
  test('is waited for, while the others get SIGTERM at once, and the next group follows when it has ended, too', async () => {
    const [batch, web, db] = [await start('batch', { onTerm: 'say' }), await start('web'), await start('db', { onTerm: 'say' })];
    let isKnown = false;
    open({ rules: [critical('db')], also: { awaited: ({ name }) => name === 'batch' && !isKnown } });
    shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
    expect(await web.ended).toBe('SIGTERM');
    await eventually('its end is in the journal', () => ends().length > 0);
    expect([ends(), batch.said().includes('term'), db.said().includes('term')]).toEqual([['web ended'], false, false]);
    isKnown = true;
    await eventually('the workload has got SIGTERM', () => batch.said().includes('term'));
    expect(db.said()).not.toContain('term');
    batch.child.kill('SIGKILL');
    await eventually('the next group has got SIGTERM', () => db.said().includes('term'));
    db.child.kill('SIGKILL');
    await released();
    expect(phase('over')).toMatchObject({ ended: 3, late: [] });
  });

  test.each<[rule: string, periodNs: bigint, withinNs: bigint]>([
    ['a quarter of the time of its group', SECOND, SECOND / 4n],
    ['five seconds', HOUR_NS, 5n * SECOND],
    ['no time in a group without time', 0n, 0n],
  ])('is waited for since its turn no longer than %s', async (_rule, periodNs, withinNs) => {
    await Promise.all([start('batch'), start('db', { onTerm: 'ignore' })]);
    const requested: { name: string; withinNs: bigint; sinceNs: bigint | undefined }[] = [];
    open({
      rules: [critical('db')],
      also: {
        awaited: ({ name }, within, turn) => {
          requested.push({ name, withinNs: within, sinceNs: turn?.sinceNs });
          return name === 'db' && within < SECOND && process.hrtime.bigint() - (turn?.sinceNs ?? 0n) < within;
        },
      },
    });
    const beforeNs = process.hrtime.bigint();
    shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, periodNs]));
    await eventually(
      'the critical one has got SIGTERM',
      () => ends().includes('batch ended') && requested.filter(({ name }) => name === 'db').length > 1,
    );
    if (periodNs < HOUR_NS) await released();
    expect(new Set(requested.filter(({ name }) => name === 'db').map((each) => each.withinNs))).toEqual(new Set([withinNs]));
    const [plan, turn] = ['batch', 'db'].map((name) => requested.findLast((each) => each.name === name)?.sinceNs ?? 0n);
    expect(plan).toBeGreaterThanOrEqual(beforeNs);
    expect(turn).toBeGreaterThan(plan ?? 0n);
  });

  test('gets no more time than its group has left, and the journal has that time', async () => {
    await start('stubborn', { onTerm: 'ignore' });
    open({ also: { awaited: (_workload, withinNs, turn) => process.hrtime.bigint() - (turn?.sinceNs ?? 0n) < withinNs } });
    const pauses = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => {
      pauses.mockRestore();
    });
    shutdown.begin(groups([0, 2n * SECOND]));
    const looks = (): number => pauses.mock.calls.length;
    await eventually('the workload is released', () => shutdown.lasts && reported.includes('released'));
    expect(ends()).toEqual(['stubborn killed']);
    const given = records.find(({ type }) => type === 'ended')?.gracePeriodSeconds as number;
    expect(given).toBeGreaterThan(0);
    expect(given).toBeLessThanOrEqual(1.5);
    expect(looks()).toBeLessThan(400); // one per millisecond would be more than a thousand
  });

  test('is left alone if it turns out to be exempt', async () => {
    const batch = await start('batch', { onTerm: 'say' });
    let isKnown = false;
    open({
      also: {
        awaited: () => !isKnown,
        veto: () => (isKnown ? { kind: 'protected-dependant', unit: 'ssh.service', how: 'stops' } : undefined),
      },
    });
    shutdown.begin(groups([0, HOUR_NS]));
    expect(reported).not.toContain('released');
    isKnown = true;
    await released();
    expect([batch.alive, batch.said().includes('term')]).toEqual([true, false]);
    expect(phase('over')).toMatchObject({ ended: 0, late: [] });
  });

  test('is not added to the group if it starts meanwhile', async () => {
    const batch = await start('batch');
    let isKnown = false;
    open({ also: { awaited: ({ name }) => name === 'batch' && !isKnown } });
    shutdown.begin(groups([0, HOUR_NS]));
    const late = await start('late');
    isKnown = true;
    expect(await batch.ended).toBe('SIGTERM');
    await released();
    expect([late.alive, phase('over')]).toMatchObject([true, { late: [{ name: 'late' }] }]);
  });
});

test('evictd waits for a container runtime that has not reported yet before the first SIGTERM', async () => {
  const batch = await start('batch', { onTerm: 'say' });
  let isAwaited = true;
  open({ awaitedRuntimes: () => (isAwaited ? ['unix:///run/c.sock'] : []) });
  shutdown.begin(groups([0, HOUR_NS]));
  await pause(100);
  expect([records, batch.said()]).toEqual([[], 'ready\n']);
  isAwaited = false;
  await eventually('the workload has got SIGTERM', () => batch.said().includes('term'));
  batch.child.kill('SIGKILL');
  await released();
});

test('evictd does not wait for the API server, because pods of a kubelet do not end here', async () => {
  const batch = await start('batch', { onTerm: 'say' });
  open({ awaitedRuntimes: () => ['kubernetes'] });
  shutdown.begin(groups([0, HOUR_NS]));
  expect(records).not.toEqual([]);
  await eventually('the workload has got SIGTERM', () => batch.said().includes('term'));
  batch.child.kill('SIGKILL');
  await released();
});

test('evictd waits a quarter of the time at most, and the first group still has its whole time', async () => {
  const batch = await start('batch', { onTerm: 'ignore' });
  open({ awaitedRuntimes: () => ['unix:///run/c.sock'] });
  shutdown.begin(groups([0, GRACE_NS]));
  expect(await batch.ended).toBe('SIGKILL');
  await released();
  const [ended, over] = [records.find(({ type }) => type === 'ended'), phase('over')];
  // Since its SIGTERM, which is a moment after its group began. Without a time of its own it would be three quarters.
  expect(ended?.afterSeconds).toBeGreaterThan(Number(GRACE_NS / SECOND) * 0.8);
  expect(over?.tookSeconds).toBeGreaterThanOrEqual((Number(GRACE_NS / SECOND) * 5) / 4);
});

test('a shutdown without workloads does not delay the machine', () => {
  open();
  shutdown.begin(groups([0, HOUR_NS]));
  expect(reported.at(-1)).toBe('released');
  expect(phase('over')).toMatchObject({ inTime: true, ended: 0 });
});

test('a workload that cannot be ended delays no other', async () => {
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
  expect(ends()).toEqual(['batch survived', 'db ended']);
  expect(batch.alive).toBe(true);
  expect(phase('over')).toMatchObject({ inTime: false, survived: [{ name: 'batch' }] });
});

test('an error is tried again and logged once, and all workloads end in order', async () => {
  await Promise.all([start('batch'), start('db')]);
  let reads = 0;
  // The plan, and each group, succeed at the second attempt.
  open({ rules: [critical('db')], isUnreadable: () => (reads += 1) % 2 === 1 });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await released();
  expect(ends()).toEqual(['batch ended', 'db ended']);
  expect(phase('over')).toMatchObject({ inTime: true, late: [] });
  expect(reported.filter((line) => line.includes('EMFILE'))).toEqual(['warn: cannot continue the shutdown, trying again: EMFILE']);
});

test('a lasting error does not delay the machine: no further workload is ended, and the journal has the error', async () => {
  const batch = await start('batch');
  const db = await start('db');
  open({ rules: [critical('db')], isUnreadable: () => ends().length > 0 });
  shutdown.begin(groups([0, HOUR_NS], [CRITICAL_PRIORITY, HOUR_NS]));
  await released();
  expect([await batch.ended, db.alive]).toEqual(['SIGTERM', true]);
  expect(phase('failed')).toMatchObject({ error: 'EMFILE', ended: [{ name: 'batch' }], signalled: [] });
  expect(records.at(-1)).toBe(phase('failed'));
  expect(reported.slice(-3)).toEqual([`warn: ${phase('failed')?.message ?? ''}`, 'over', 'released']);
  shutdown.callOff();
  expect([shutdown.lasts, reported.at(-1)]).toEqual([false, 'called off']);
});

test('an error is tried again for seconds, whatever ends meanwhile', async () => {
  const many = await Promise.all(Array.from({ length: 12 }, (_, index) => start(`w${String(index)}`, { onTerm: 'say' })));
  const db = await start('db');
  let hasThrown = 0;
  let isThere = true;
  const isUnreadable = (): boolean => {
    if (isThere || hasThrown < 0) return false;
    hasThrown += 1;
    return true;
  };
  open({ rules: [critical('db'), { match: { name: 'w0' }, priority: -1 }], isUnreadable });
  shutdown.begin(groups([-1, HOUR_NS], [0, 0n], [CRITICAL_PRIORITY, HOUR_NS]));
  await eventually('the first has got SIGTERM', () => many[0]?.said().includes('term') === true);
  isThere = false;
  many[0]?.child.kill('SIGKILL');
  await eventually('it throws', () => hasThrown > 0);
  for (const { child, ended } of many.slice(1)) {
    child.kill('SIGKILL');
    await ended;
  }
  hasThrown = -1;
  expect(await db.ended).toBe('SIGTERM');
  await released();
});

test('the machine does not wait for a plan that cannot be made', async () => {
  const batch = await start('batch');
  open({ isUnreadable: () => true });
  shutdown.begin(groups([0, HOUR_NS]));
  expect(reported).not.toContain('released');
  await released();
  expect([batch.alive, records.map((record) => record.phase)]).toEqual([true, ['failed']]);
});

test.each<[dryRun: boolean, at: string]>([
  [true, 'begins'],
  [false, 'over'],
])('a journal that throws does not delay the machine (dry run: %s, at %s)', async (dryRun, at) => {
  const batch = await start('batch');
  const journal = (record: JournalRecord): void => {
    if (record.phase === at) throw new Error('no journal');
  };
  open({ dryRun, journal });
  shutdown.begin(groups([0, HOUR_NS]));
  await released();
  expect(phase('failed')).toMatchObject({ error: 'no journal' });
  if (dryRun) expect(batch.alive).toBe(true);
  else expect(await batch.ended).toBe('SIGTERM');
});
