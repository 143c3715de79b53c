import { readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import { openUnitEvictor } from '../../../src/evict/systemd/unit-evictor.js';
import type { UnitDecision } from '../../../src/core/decide/eviction.js';
import type { UnitPart } from '../../../src/core/systemd/unit.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import { unitPath } from '../../../src/host/linux/systemd/units/unit-reading.js';
import { SystemdUnits } from '../../../src/host/linux/systemd/unit-manager.js';
import type { KillInProgress } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { SECOND, workload } from '../../core/support.js';
import { BusPeer } from '../../host/linux/systemd/bus-peer.js';
import { testCgroup, type TestCgroup, type TestProcess } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';

// Real processes in a real cgroup; systemd is a peer that can be made to hang and to refuse. What systemd itself does:
// test/systemd/stop-unit.test.ts.

const NAME = 'evictd-test.service';
const stop = {
  kind: 'stop',
  dependants: [],
  triggers: ['evictd-test.socket'],
  timers: ['evictd-test.timer'],
  running: [],
  restarts: true,
  affected: [],
} as const;
const hold = { unit: NAME, decision: 1, start: [NAME], unstarted: [], condition: 'MemoryPressure', untilNs: undefined } as const;
const decided: UnitDecision = { evictions: 1, stop, hold: undefined };

let victim: TestCgroup;
let member: TestProcess;
let peer: BusPeer;
let units: SystemdUnits;
let notStopped: string[];
/** What systemd says depends on it. */
let sure: () => UnitDecision['stop'] | 'awaited';
/** To systemd. */
let activeState: string;

beforeEach(async () => {
  notStopped = [];
  sure = () => stop;
  activeState = 'active';
  victim = testCgroup();
  member = await victim.spawn('sleep', ['600']);
});
afterEach(async () => {
  await victim.cleanup();
});

/** With a systemd that says yes; see `peer.answer`. */
async function begin(
  unit: UnitDecision,
  part: UnitPart = { name: NAME, manager: 'system' },
  graceNs = 5n * SECOND,
  isKilled = false,
): Promise<KillInProgress> {
  peer = await BusPeer.open();
  units = new SystemdUnits([{ path: peer.path, daemon: false }]);
  await eventually('it is reached', () => units.connect());
  await eventually('it has subscribed', () => peer.calls.length === 1);
  peer.answer = ({ body, member }) => {
    if (member === 'GetAll') return { signature: 'a{sv}', body: [[['ActiveState', ['s', activeState]]]] };
    if (member === 'Get') return { error: 'org.freedesktop.DBus.Error.UnknownProperty' };
    return { signature: 'uososa(uosos)', body: [1, '/job/1', String(body?.[0]), '/unit/1', 'stop', []] };
  };
  units.follow([NAME]);
  await eventually('the unit is known', () => units.unit(NAME) !== undefined);
  const evictor = openUnitEvictor(
    openCgroupEvictor(native, readHierarchies()),
    units,
    () => sure(),
    (held, errors) => {
      notStopped.push(`${held.unit}: ${errors.join()}`);
    },
  );
  const { path, dir } = victim;
  const kill = evictor.begin(
    workload(NAME, { id: path, path, startOrder: statSync(dir, { bigint: true, throwIfNoEntry: false })?.ino ?? 1n, unit: part }),
    unit,
    graceNs,
    isKilled,
  );
  onTestFinished(() => {
    kill.close();
    units.close();
  });
  return kill;
}

const requested = (): unknown[] => peer.calls.filter(({ member }) => member === 'EnqueueUnitJob').map(({ body }) => body?.[0]);
/** The unit has come to this state. */
const becomes = (next: string): void => {
  activeState = next;
  peer.signal('PropertiesChanged', unitPath(NAME));
};
/** Its SIGTERM has come: `sleep` ends by it. */
const isTerminated = async (kill: KillInProgress): Promise<void> => {
  await eventually('SIGTERM', () => kill.read().processes === 0, { ms: 20_000 });
  expect(await member.ended).toBe('SIGTERM');
};

test('systemd is asked to stop the unit, its sockets first, and evictd sends no signal', async () => {
  const kill = await begin(decided);
  expect(kill.terminate()).toMatchObject({ processes: 1, error: undefined });
  await eventually('it is answered', () => kill.systemd?.());
  expect(kill.read().processes).toBe(1);
  expect(requested()).toEqual(['evictd-test.socket', NAME]);
  expect(kill.systemd?.()).toEqual({ units: [NAME, 'evictd-test.socket'], errors: [] });
  expect(readFileSync(`/proc/${String(member.pid)}/stat`, 'utf8')).toContain('(sleep)');
});

test('a timer does not start a unit that is kept stopped', async () => {
  const kill = await begin({ ...decided, hold });
  kill.terminate();
  await eventually('it was asked', () => requested().length === 3);
  expect(requested()).toEqual(['evictd-test.socket', 'evictd-test.timer', NAME]);
});

test('evictd sends SIGTERM when systemd refuses', async () => {
  const kill = await begin(decided);
  peer.answer = () => ({ error: 'org.freedesktop.systemd1.OnlyByDependency' });
  kill.terminate();
  await isTerminated(kill);
  expect(kill.systemd?.()).toEqual({ units: [], errors: ['evictd-test.socket: it says no', `${NAME}: it says no`] });
});

test('a stop job behind others is reported as queued, and SIGTERM is sent in the last quarter of the grace', async () => {
  const kill = await begin(decided, undefined, 4n * SECOND);
  const { atNs } = kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  expect(kill.read()).toMatchObject({ processes: 1, queued: true });
  await isTerminated(kill);
  expect(process.hrtime.bigint() - atNs).toBeGreaterThanOrEqual(3n * SECOND);
});

test('SIGTERM is sent for a queued stop job when it may wait no longer', async () => {
  const kill = await begin({ ...decided, queuesNs: 2n * SECOND }, undefined, 3_600n * SECOND);
  const { atNs } = kill.terminate();
  await isTerminated(kill);
  expect(process.hrtime.bigint() - atNs).toBeGreaterThanOrEqual(2n * SECOND);
});

test('a unit that systemd has begun to stop is not queued, and gets no signal from evictd', async () => {
  const kill = await begin({ ...decided, queuesNs: SECOND });
  kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  becomes('deactivating');
  await eventually('it is being stopped', () => units.unit(NAME)?.activeState === 'deactivating');
  await pause(1_500);
  const left = kill.read();
  expect([left.processes, left.queued]).toEqual([1, undefined]);
  await pause(200);
  expect(kill.read().processes).toBe(1);
});

test('a unit whose socket systemd refuses to stop is left to systemd', async () => {
  const kill = await begin(decided);
  const { answer } = peer;
  peer.answer = (call) => (call.body?.[0] === NAME ? answer(call) : { error: 'a.b.C' });
  kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  expect(kill.read().processes).toBe(1);
});

test.each([
  { grace: '5 s', graceNs: 5n * SECOND, atLeastNs: SECOND },
  { grace: '15 s', graceNs: 15n * SECOND, atLeastNs: (3n * SECOND) / 2n },
])(
  'evictd sends SIGTERM if systemd does not answer for a second, or for a tenth of the grace of $grace',
  async ({ graceNs, atLeastNs }) => {
    const kill = await begin(decided, undefined, graceNs);
    peer.answer = () => undefined;
    const { atNs } = kill.terminate();
    expect(kill.read().processes).toBe(1);
    await isTerminated(kill);
    expect(process.hrtime.bigint() - atNs).toBeGreaterThanOrEqual(atLeastNs);
  },
);

test('evictd sends SIGTERM when the connection is lost', async () => {
  const kill = await begin(decided);
  peer.answer = () => undefined;
  kill.terminate();
  await eventually('it was asked', () => requested().length === 2);
  peer.hangUp();
  await isTerminated(kill);
});

test('evictd sends SIGTERM at once without a connection', async () => {
  const kill = await begin(decided);
  peer.close();
  await eventually('it is lost', () => !units.connect());
  kill.terminate();
  await isTerminated(kill);
  expect(kill.systemd?.()).toBeUndefined();
});

test.each(['inactive', 'failed'])('evictd sends SIGTERM if a process is left when systemd has finished with the unit (%s)', async (end) => {
  const kill = await begin(decided);
  kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  becomes('deactivating');
  await eventually('it is being stopped', () => units.unit(NAME)?.activeState === 'deactivating');
  expect(kill.read().processes).toBe(1);
  becomes(end);
  await isTerminated(kill);
});

test.each(['inactive', 'failed'])('a unit without processes is stopping until systemd has finished with it (%s)', async (end) => {
  const kill = await begin(decided);
  kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  expect(kill.read().stopping).toBeUndefined(); // a process is left
  member.child.kill('SIGTERM');
  await eventually('no process is left', () => kill.read().processes === 0);
  expect(kill.read().stopping).toBe(true); // its job waits
  becomes('deactivating');
  await eventually('it is being stopped', () => units.unit(NAME)?.activeState === 'deactivating');
  expect(kill.read().stopping).toBe(true);
  becomes(end);
  await eventually('it has stopped', () => kill.read().stopping === undefined);
});

test('a unit without processes that systemd does not stop is not stopping', async () => {
  const kill = await begin(decided);
  peer.answer = () => ({ error: 'org.freedesktop.systemd1.OnlyByDependency' });
  member.child.kill('SIGTERM');
  await eventually('no process is left', () => kill.read().processes === 0);
  expect(kill.read().stopping).toBeUndefined();
  kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  expect(kill.read().stopping).toBeUndefined();
});

test('evictd sends SIGTERM to a process of a unit that systemd has forgotten', async () => {
  const kill = await begin(decided);
  kill.terminate();
  await eventually('it is answered', () => kill.systemd?.());
  const { answer } = peer;
  peer.answer = (call) => (call.member === 'GetAll' ? { error: 'org.freedesktop.DBus.Error.UnknownObject' } : answer(call));
  peer.signal('PropertiesChanged', unitPath(NAME));
  await isTerminated(kill);
});

test('after a stop job of an earlier evictd the remaining processes get SIGTERM, and systemd is not asked again', async () => {
  const kill = await begin(decided);
  kill.resume?.(false);
  expect(kill.read().processes).toBe(1);
  becomes('inactive');
  await isTerminated(kill);
  expect(requested()).toEqual([]);
});

test.each<[what: string, unit: UnitDecision, part: UnitPart]>([
  ["a user's unit", { ...decided, stop: undefined }, { name: NAME, manager: 'user' }],
  [
    'a unit whose stop would also stop a protected one',
    { ...decided, stop: { kind: 'signal', because: 'protected', unit: 'dear', affected: [] } },
    { name: NAME, manager: 'system' },
  ],
])('%s gets SIGTERM, and systemd is not asked to stop it', async (_what, unit, part) => {
  const kill = await begin(unit, part);
  kill.terminate();
  await isTerminated(kill);
  expect(requested()).toEqual([]);
});

test('SIGKILL is sent before systemd is asked, which happens only if the unit should stay stopped', async () => {
  const kill = await begin(decided);
  kill.kill();
  await eventually('it is gone', () => kill.read().processes === 0);
  expect(await member.ended).toBe('SIGKILL');
  expect(requested()).toEqual([]);
});

test('systemd is asked once to keep a unit stopped, however often the unit is killed', async () => {
  const kill = await begin({ ...decided, hold });
  kill.kill();
  kill.kill();
  await eventually('it is answered', () => kill.systemd?.());
  expect(requested()).toEqual(['evictd-test.socket', 'evictd-test.timer', NAME]);
});

test('SIGKILL does not wait for the dependencies of the unit, and the stop request follows when they are known', async () => {
  const kill = await begin({ ...decided, hold });
  sure = () => 'awaited';
  kill.kill();
  await eventually('it is gone', () => kill.read().processes === 0);
  kill.close();
  expect(requested()).toEqual([]);
  sure = () => ({ ...stop, running: ['other.service'] });
  await eventually('it was asked', () => requested().length === 3);
  expect(notStopped).toEqual([]);
});

test.each<[rule: string, answer: ReturnType<typeof sure>, why: RegExp]>([
  ['more units depend on it than at the decision', { ...stop, dependants: ['db.service'] }, /has changed meanwhile/],
  ['the unit may not be stopped', { kind: 'signal', because: 'protected', unit: 'db.service', affected: [] }, /has changed meanwhile/],
  ['systemd does not say in time', 'awaited', /did not report in time/],
])('a killed unit is not stopped, which is reported, where %s', async (_rule, answer, why) => {
  const kill = await begin({ ...decided, hold });
  sure = () => answer;
  kill.kill();
  await eventually('it is reported', () => notStopped.length > 0);
  kill.kill();
  expect(notStopped).toEqual([expect.stringMatching(why)]);
  expect(requested()).toEqual([]);
});

test('a refused stop of a unit that should stay stopped is reported even long after the eviction', async () => {
  const kill = await begin({ ...decided, hold });
  peer.answer = () => ({ error: 'org.freedesktop.systemd1.OnlyByDependency' });
  kill.kill();
  await eventually('it is gone', () => kill.read().processes === 0);
  kill.close();
  await eventually('it is reported', () => notStopped.length > 0);
  expect(notStopped).toEqual([expect.stringContaining(`${NAME}: it says no`)]);
});

test('without a connection nothing is reported about units that should stay stopped', async () => {
  const kill = await begin({ ...decided, hold });
  peer.close();
  await eventually('it is lost', () => !units.connect());
  kill.kill();
  await eventually('it is gone', () => kill.read().processes === 0);
  expect(await member.ended).toBe('SIGKILL');
  expect([notStopped, kill.systemd?.()]).toEqual([[], undefined]);
});

test.each(['still exists', 'was removed'])(
  'systemd is asked to keep a unit stopped that a standing order killed, when its cgroup %s',
  async (cgroup) => {
    if (cgroup === 'was removed') await victim.cleanup();
    const kill = await begin({ ...decided, hold }, undefined, 0n, true);
    expect(kill.kill()).toMatchObject({ error: undefined });
    await eventually('it was asked', () => requested().length === 3);
    expect(requested()).toEqual(['evictd-test.socket', 'evictd-test.timer', NAME]);
    expect(await member.ended).toBe('SIGKILL');
  },
);
