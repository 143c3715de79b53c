import type { DBusMessage } from 'dbus-native/lib/message.js';
import { expect, onTestFinished, test } from 'vitest';
import type { Hold } from '../../src/core/systemd/unit-hold.js';
import type { NotStarted } from '../../src/core/systemd/unit-start.js';
import { SystemdUnits } from '../../src/host/linux/systemd/unit-manager.js';
import { Releases } from '../../src/monitor/unit-releases.js';
import { BusPeer, reply } from '../host/linux/systemd/bus-peer.js';
import { eventually } from '../support/eventually.js';

const hold: Hold = { unit: 'b.service', decision: 1, start: ['b.service'], unstarted: [], condition: 'MemoryPressure', untilNs: undefined };
const requested = new Map([['b.service', { ...hold, startRequested: true as const }]]);
const refused: string[] = [];
const hints: string[] = [];

async function releases(peer: BusPeer, knownWithinNs?: bigint): Promise<Releases> {
  const units = new SystemdUnits([{ path: peer.path, daemon: false }]);
  onTestFinished(() => {
    units.close();
    refused.length = hints.length = 0;
  });
  await eventually('it is reached', () => units.connect());
  const onRefused = (_hold: Hold, { reasons, hint }: NotStarted): void => {
    refused.push(...reasons);
    hints.push(hint);
  };
  return new Releases(units, onRefused, knownWithinNs);
}

const start = { signature: 'uososa(uosos)', body: [1, '/job/1', 'b.service', '/unit/b', 'start', []] };

test('a unit is started when systemd has answered, and waits for the requests of others', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) => (member === 'EnqueueUnitJob' ? start : { error: 'a.b' });
  const it = await releases(peer);
  expect(it.begin(hold)).toBe(true);
  expect(await eventually('it is answered', () => it.holdChanges(requested).get('b.service'))).toBe('started');
  expect(peer.calls.find(({ member }) => member === 'EnqueueUnitJob')?.body).toEqual(['b.service', 'start', 'fail']);
  expect(refused).toEqual([]);
});

test('a unit that systemd does not start is reported', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => ({ error: 'org.freedesktop.systemd1.UnitMasked' });
  const it = await releases(peer);
  it.begin(hold);
  expect(await eventually('it is answered', () => it.holdChanges(requested).get('b.service'))).toBe('started');
  expect(refused).toEqual(['b.service: it says no']);
  expect(hints).toEqual(['systemctl start b.service']);
});

test('an answer that is lost with the connection is requested again, also one that an earlier evictd waited for', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  const it = await releases(peer);
  expect(it.holdChanges(requested).get('b.service')).toBe('lost');
  it.begin(hold);
  expect(it.holdChanges(requested).has('b.service')).toBe(false);
  peer.hangUp();
  expect(await eventually('it is lost', () => it.holdChanges(requested).get('b.service'))).toBe('lost');
  expect(refused).toEqual([]);
});

test('a unit that runs again though evictd has not started it was started by an operator', async () => {
  const peer = await BusPeer.open();
  let state = 'active';
  peer.answer = ({ member }) => {
    return member === 'GetAll' ? { signature: 'a{sv}', body: [[['ActiveState', ['s', state]]]] } : { error: 'a.b' };
  };
  const it = await releases(peer);
  const held = new Map([['b.service', hold]]);
  const reads = (): number => peer.calls.filter(({ member }) => member === 'GetAll').length;
  it.holdChanges(held);
  await eventually('it is read', () => reads() === 1);
  expect(it.holdChanges(held).size).toBe(0); // it has not stopped yet
  for (const next of ['inactive', 'active']) {
    state = next;
    const before = reads();
    peer.signal('PropertiesChanged', '/org/freedesktop/systemd1/unit/b_2eservice');
    await eventually('it is read again', () => reads() > before);
    if (next === 'active') expect(await eventually('the change', () => it.holdChanges(held).get('b.service'))).toBe('started elsewhere');
    else await new Promise((resolve) => setTimeout(resolve, 100));
    it.holdChanges(held);
  }
});

test('a unit that never was stopped is started without an effect, and is not held any more', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) => {
    if (member === 'GetAll') return { signature: 'a{sv}', body: [[['ActiveState', ['s', 'active']]]] };
    return member === 'EnqueueUnitJob' ? start : { error: 'a.b' };
  };
  const it = await releases(peer);
  const held = new Map([['b.service', hold]]);
  it.holdChanges(held);
  await eventually('it is read', () => peer.calls.some(({ member }) => member === 'GetAll'));
  expect(it.holdChanges(held).size).toBe(0);
  it.begin(hold);
  expect(await eventually('it is answered', () => it.holdChanges(requested).get('b.service'))).toBe('started');
});

test('a unit that conflicts with a running unit is not started, nor its socket or timer, but the other units are', async () => {
  const peer = await BusPeer.open();
  const units: Record<string, readonly unknown[]> = {
    b_2eservice: [
      ['ActiveState', ['s', 'inactive']],
      ['ConflictedBy', ['as', ['fallback.service', 'shutdown.target']]],
      ['TriggeredBy', ['as', ['b.socket']]],
    ],
    web_2eservice: [['Requires', ['as', ['b.service']]]],
    fallback_2eservice: [['ActiveState', ['s', 'active']]],
  };
  peer.answer = ({ member, path = '' }) => {
    if (member === 'EnqueueUnitJob') return start;
    return member === 'GetAll' ? { signature: 'a{sv}', body: [units[path.slice(path.lastIndexOf('/') + 1)] ?? []] } : { error: 'a.b' };
  };
  const it = await releases(peer);
  const whole = { ...hold, start: ['b.socket', 'b.service', 'web.service', 'other.service'] };
  const held = new Map([['b.service', whole]]);
  const isRead = (name: string): boolean => peer.calls.some(({ member, path }) => member === 'GetAll' && path?.endsWith(name));
  await eventually('all is read', () => {
    it.holdChanges(held);
    return isRead('fallback_2eservice') && isRead('web_2eservice') && isRead('other_2eservice');
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  it.begin(whole);
  expect(
    await eventually('it is answered', () => it.holdChanges(new Map([['b.service', { ...whole, startRequested: true }]])).get('b.service')),
  ).toBe('started');
  expect(peer.calls.filter(({ member }) => member === 'EnqueueUnitJob').map(({ body }) => body?.[0])).toEqual(['other.service']);
  expect(refused).toEqual([
    'b.socket would start b.service, which conflicts with fallback.service, which is running',
    'b.service conflicts with fallback.service, which is running',
    'web.service would start b.service, which conflicts with fallback.service, which is running',
  ]);
  expect(hints).toEqual([
    'when fallback.service is no longer needed: systemctl stop fallback.service && systemctl start b.socket b.service web.service',
  ]);
});

/** systemd's units, by the last part of their paths. */
function knows(peer: BusPeer, units: Record<string, readonly unknown[]>): void {
  peer.answer = ({ member, path = '', body: [unit] = [] }) => {
    if (member === 'EnqueueUnitJob')
      return unit === 'masked.service' ? { error: 'a.UnitMasked' } : { ...start, body: [1, '/job/1', unit, '/unit/u', 'start', []] };
    return member === 'GetAll' ? { signature: 'a{sv}', body: [units[path.slice(path.lastIndexOf('/') + 1)] ?? []] } : { error: 'a.b' };
  };
}

const starts = (peer: BusPeer): unknown[] => peer.calls.flatMap(({ member, body }) => (member === 'EnqueueUnitJob' ? [body?.[0]] : []));
const INACTIVE = ['ActiveState', ['s', 'inactive']];
const FALLBACK = { fallback_2eservice: [['ActiveState', ['s', 'active']]] };

test('right after a start evictd waits for the state of a conflicting unit', async () => {
  const peer = await BusPeer.open();
  knows(peer, { b_2eservice: [INACTIVE, ['Conflicts', ['as', ['fallback.service']]]], ...FALLBACK });
  const it = await releases(peer);
  expect(it.begin(hold)).toBe(true);
  expect(await eventually('it is answered', () => it.holdChanges(requested).get('b.service'))).toBe('started');
  expect([starts(peer), refused]).toEqual([[], ['b.service conflicts with fallback.service, which is running']]);
});

test('evictd waits for the state of a conflicting unit also if its answer is outdated', async () => {
  const peer = await BusPeer.open();
  knows(peer, { b_2eservice: [INACTIVE, ['Conflicts', ['as', ['fallback.service']]]], fallback_2eservice: [INACTIVE] });
  const units = new SystemdUnits([{ path: peer.path, daemon: false }]);
  onTestFinished(() => {
    units.close();
  });
  // Not awaited means unknown: a caller must not wait without limit.
  await eventually(
    'it is known',
    () =>
      units.connect() &&
      !units.awaited('b.service') &&
      !units.awaited('fallback.service') &&
      units.unit('b.service') &&
      units.unit('fallback.service'),
  );
  const unanswered: DBusMessage[] = [];
  peer.answer = (call) => {
    if (call.member === 'EnqueueUnitJob') return start;
    unanswered.push(call);
    return undefined;
  };
  peer.signal('PropertiesChanged', '/org/freedesktop/systemd1/unit/fallback_2eservice');
  await eventually('it is read again', () => unanswered.find(({ member }) => member === 'GetAll'));
  const it = new Releases(units, (_hold, { reasons }) => refused.push(...reasons));
  it.begin(hold);
  const isActive = { signature: 'a{sv}', body: [FALLBACK.fallback_2eservice] };
  for (const call of unanswered) peer.send(reply(call, call.member === 'GetAll' ? isActive : { error: 'a.b' }));
  expect(await eventually('it is answered', () => it.holdChanges(requested).get('b.service'))).toBe('started');
  expect([starts(peer), refused.splice(0)]).toEqual([[], ['b.service conflicts with fallback.service, which is running']]);
});

test('of two conflicting units that are kept stopped, the one whose conflicts are known first is started', async () => {
  const peer = await BusPeer.open();
  knows(peer, {
    b_2eservice: [INACTIVE, ['Conflicts', ['as', ['c.service']]]],
    c_2eservice: [INACTIVE, ['Conflicts', ['as', ['b.service']]]],
  });
  const it = await releases(peer);
  const both = await it.release([{ ...hold, unit: 'c.service', start: ['c.service'] }, hold], 10_000);
  const [first, second] = both.map(({ hold: { unit } }) => unit).sort((a) => (a === starts(peer)[0] ? -1 : 1));
  expect(starts(peer)).toEqual([first]);
  expect(both.find(({ kind }) => kind === 'refused')).toMatchObject({
    why: { reasons: [`${String(second)} conflicts with ${String(first)}, which is running`] },
  });
});

test('a unit that was started counts as running until systemd reports its state', async () => {
  const peer = await BusPeer.open();
  const units = {
    b_2eservice: [INACTIVE, ['Conflicts', ['as', ['c.service', 'masked.service']]]],
    c_2eservice: [INACTIVE],
    masked_2eservice: [INACTIVE],
  };
  knows(peer, units);
  const it = await releases(peer);
  const other = { ...hold, unit: 'c.service', start: ['c.service'] };
  const masked = { ...hold, unit: 'masked.service', start: ['masked.service'] };
  expect(await it.release([masked, other], 10_000)).toMatchObject([{ kind: 'refused' }, { kind: 'started' }]);
  expect(await it.release([hold], 10_000)).toMatchObject([
    { kind: 'refused', why: { reasons: ['b.service conflicts with c.service, which is running'] } },
  ]);
  const reads = (): number => peer.calls.filter(({ member, path }) => member === 'GetAll' && path?.endsWith('/c_2eservice')).length;
  const before = reads();
  peer.signal('PropertiesChanged', '/org/freedesktop/systemd1/unit/c_2eservice'); // it ran, and has ended
  await eventually('it is read again', () => reads() > before);
  expect(await it.release([hold], 10_000)).toMatchObject([{ kind: 'started' }]);
});

test('a unit is started without the state of a conflicting one if systemd does not report it in time', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) => (member === 'EnqueueUnitJob' ? start : undefined);
  const it = await releases(peer, 100_000_000n);
  it.begin(hold);
  expect(await eventually('it is answered', () => it.holdChanges(requested).get('b.service'))).toBe('started');
  expect([starts(peer), refused]).toEqual([['b.service'], []]);
});

test('a systemd that loads a unit to report it, and then signals that it is new, is asked once', async () => {
  const peer = await BusPeer.open();
  knows(peer, { b_2eservice: [INACTIVE, ['Conflicts', ['as', ['fallback.service']]]], fallback_2eservice: [INACTIVE] });
  const { answer } = peer;
  const reads = new Map<string, number>();
  peer.answer = (call) => {
    const { member, path = '' } = call;
    if (member === 'GetAll') {
      reads.set(path, (reads.get(path) ?? 0) + 1);
      // As slow as systemd is on an overloaded machine: longer than an answer is sure for.
      setTimeout(() => {
        peer.send(reply(call, answer(call) ?? { error: 'a.b' }));
        peer.signal('UnitNew', '/org/freedesktop/systemd1');
      }, 300);
      return undefined;
    }
    return answer(call);
  };
  const it = await releases(peer);
  expect(await it.release([hold], 20_000)).toMatchObject([{ kind: 'started' }]);
  expect(Math.max(...reads.values())).toBeLessThan(3); // and again where an answer was on its way when the start was requested
});

test('a caller with little time gets the units without an answer', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  const it = await releases(peer);
  expect(await it.release([hold], 50)).toEqual([
    { kind: 'open', hold, reason: 'systemd did not report in time which units conflict with it' },
  ]);
  expect(starts(peer)).toEqual([]);
  const lost = it.release([hold], 10_000);
  peer.close();
  expect(await lost).toEqual([{ kind: 'open', hold, reason: 'the connection to systemd was lost' }]);
});
