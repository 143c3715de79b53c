import { onTestFinished, expect, test } from 'vitest';
import { SystemdUnits } from '../../../../src/host/linux/systemd/unit-manager.js';
import { unitPath } from '../../../../src/host/linux/systemd/units/unit-reading.js';
import { eventually } from '../../../support/eventually.js';
import { BusPeer } from './bus-peer.js';

async function reached(...peers: BusPeer[]): Promise<SystemdUnits> {
  const units = new SystemdUnits(peers.map(({ path }) => ({ path, daemon: false })));
  onTestFinished(() => {
    units.close();
  });
  await eventually('it is reached', () => units.connect());
  return units;
}

test.each([
  ['web.service', 'web_2eservice'],
  ['user@1000.service', 'user_401000_2eservice'],
  ['1.service', '_31_2eservice'],
  ['a\\x2db.service', 'a_5cx2db_2eservice'],
  ['_x.service', '_5fx_2eservice'],
  ['-.mount', '_2d_2emount'],
])('the object path of %s is escaped as in systemd (bus_label_escape)', (name, label) => {
  expect(unitPath(name)).toBe(`/org/freedesktop/systemd1/unit/${label}`);
});

test('the answer names all units that have a job, and the refusal of systemd', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member, body }) => {
    if (member !== 'EnqueueUnitJob') return { signature: '', body: [] };
    if (body?.[0] === 'b.socket') return { error: 'org.freedesktop.systemd1.OnlyByDependency' };
    return {
      signature: 'uososa(uosos)',
      body: [1, '/job/1', 'b.service', '/unit/b', 'stop', [[2, '/job/2', 'web.service', '/unit/web', 'stop']]],
    };
  };
  const units = await reached(peer);
  const answer = units.request([
    { type: 'stop', unit: 'b.socket' },
    { type: 'stop', unit: 'b.service' },
  ]);
  expect(answer?.()).toBeUndefined();
  await eventually('it is answered', () => answer?.());
  expect(answer?.()).toEqual({ units: ['b.service', 'web.service'], errors: ['b.socket: it says no'] });
  expect(peer.calls.filter(({ member }) => member === 'EnqueueUnitJob').map(({ body }) => body)).toEqual([
    ['b.socket', 'stop', 'replace'],
    ['b.service', 'stop', 'replace'],
  ]);
});

test('systemd before 246 gets StopUnit and StartUnit', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) =>
    member === 'EnqueueUnitJob' ? { error: 'org.freedesktop.DBus.Error.UnknownMethod' } : { signature: 'o', body: ['/job/1'] };
  const units = await reached(peer);
  for (const type of ['stop', 'start'] as const) {
    const answer = units.request([{ type, unit: 'b.service' }]);
    expect(await eventually('it is answered', () => answer?.())).toEqual({ units: ['b.service'], errors: [] });
  }
  expect(peer.calls.map(({ member }) => member)).toEqual(['Subscribe', 'EnqueueUnitJob', 'StopUnit', 'StartUnit']);
});

test('after a connection that is lost before the answer the result is unknown, and the connection is made again', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) => (member === 'Subscribe' ? { signature: '', body: [] } : undefined);
  const units = await reached(peer);
  const answer = units.request([{ type: 'stop', unit: 'b.service' }]);
  await eventually('it was asked', () => peer.calls.length === 2);
  peer.hangUp();
  expect(await eventually('it is over', () => answer?.())).toEqual({
    units: [],
    errors: [expect.stringContaining('closed the connection') as string],
    lost: true,
  });
  await eventually('it is back', () => peer.connections === 2 && units.connect());
  expect(units.problem()).toBeUndefined();
});

test('without systemd’s socket the bus is used, and without both the problem is reported', async () => {
  const [own, bus] = [await BusPeer.open(), await BusPeer.open()];
  own.close();
  const units = await reached(own, bus);
  expect(bus.connections).toBe(1);
  bus.close();
  await eventually('it is said', () => units.problem()?.message.includes(own.path) && units.problem()?.message.includes(bus.path));
  expect(units.connect()).toBe(false);
  expect(units.request([{ type: 'stop', unit: 'b.service' }])).toBeUndefined();
});

test('a peer that does not speak D-Bus is given up for the next one', async () => {
  const [mute, bus] = [await BusPeer.open(), await BusPeer.open()];
  mute.admits = undefined;
  await reached(mute, bus);
  expect(mute.connections).toBe(1);
  expect(bus.connections).toBe(1);
});

test('a unit is followed as long as one of its owners follows it', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) =>
    member === 'GetAll' ? { signature: 'a{sv}', body: [[['ActiveState', ['s', 'active']]]] } : { signature: '', body: [] };
  const units = await reached(peer);
  const [one, other] = [{}, {}];
  units.follow(['a.service', 'b.service'], one);
  units.follow(['b.service', 'c.service'], other);
  const known = (): string[] => ['a.service', 'b.service', 'c.service'].filter((name) => units.unit(name) !== undefined);
  await eventually('all are known', () => known().length === 3);
  units.follow(['b.service', 'c.service'], other);
  expect(known()).toEqual(['a.service', 'b.service', 'c.service']);
  units.unfollow(one);
  expect(known()).toHaveLength(3); // a source that replaces this one follows them before the next tick is over
  units.follow(['b.service'], other);
  expect(known()).toEqual(['b.service']);
});
