import { expect, onTestFinished, test } from 'vitest';
import { ManagedUnits } from '../../../../src/host/linux/managed-oom/managed-units.js';
import { unitPath } from '../../../../src/host/linux/systemd/units/unit-reading.js';
import { eventually } from '../../../support/eventually.js';
import { BusPeer } from '../systemd/bus-peer.js';

type Properties = Readonly<Record<string, readonly [signature: string, value: unknown]>>;
const SWAP: Properties = { ManagedOOMSwap: ['s', 'kill'], ControlGroup: ['s', '/a'] };
const AUTO: Properties = { ManagedOOMSwap: ['s', 'auto'], ManagedOOMMemoryPressure: ['s', 'auto'] };
const later = (): bigint => process.hrtime.bigint() + 31_000_000_000n;

/** A systemd with these active units. */
async function manager(units: Record<string, Properties>): Promise<BusPeer> {
  const peer = await BusPeer.open();
  peer.answer = ({ member, path = '', body = [] }) => {
    if (member === 'ListUnitsByPatterns') {
      const rows = Object.keys(units).map((name) => [name, '', 'loaded', 'active', 'running', '', unitPath(name), 0, '', '/']);
      return { signature: 'a(ssssssouso)', body: [rows] };
    }
    if (member !== 'Get') return { signature: '', body: [] };
    const [, properties] = Object.entries(units).find(([name]) => unitPath(name) === path) ?? [];
    const property = properties?.[String(body[1])];
    return property === undefined ? { error: 'org.freedesktop.DBus.Error.UnknownProperty' } : { signature: 'v', body: [property] };
  };
  return peer;
}

function following({ path }: BusPeer, uid?: number): ManagedUnits {
  const units = new ManagedUnits([{ path, daemon: false }], uid);
  onTestFinished(() => {
    units.close();
  });
  return units;
}

const paths = (units: ManagedUnits): readonly string[] | undefined => units.units()?.map(({ path }) => path);
const asked = (peer: BusPeer, property: string): number => peer.calls.filter(({ body }) => body?.[1] === property).length;

test('only managed units are read in full, by path', async () => {
  const peer = await manager({
    'web.service': AUTO,
    'b.slice': {
      ManagedOOMMemoryPressure: ['s', 'kill'],
      ManagedOOMMemoryPressureLimit: ['u', 858993459],
      ControlGroup: ['s', '/b.slice'],
    },
    'a.scope': SWAP,
  });
  const units = following(peer);
  await eventually('they are listed', () => units.units());
  expect(units.units()).toEqual([
    { name: 'a.scope', path: '/a', swap: true, rules: [] },
    { name: 'b.slice', path: '/b.slice', swap: false, pressure: { limit: 0.2 }, rules: [] },
  ]);
  expect(asked(peer, 'ControlGroup')).toBe(2);
  expect(peer.calls.find(({ member }) => member === 'ListUnitsByPatterns')?.body).toEqual([
    ['active', 'reloading', 'refreshing', 'activating', 'deactivating'],
    ['*.service', '*.scope', '*.slice'],
  ]);
  expect([units.isActive('web.service'), units.isActive('other.service')]).toEqual([true, false]);
});

test('an unknown list of units is not an empty one', async () => {
  const peer = await manager({ 'a.scope': SWAP });
  const answer = peer.answer;
  peer.answer = (call) => (call.member === 'Get' ? undefined : answer(call));
  const units = following(peer);
  await eventually('a unit was asked about', () => asked(peer, 'ManagedOOMSwap') === 1);
  expect(units.units()).toBeUndefined();
});

test('a new unit, a changed one and one that ended are followed', async () => {
  const known: Record<string, Properties> = { 'a.scope': AUTO };
  const peer = await manager(known);
  const units = following(peer);
  await eventually('it is listed', () => paths(units)?.length === 0);
  known['b.scope'] = { ...SWAP, ControlGroup: ['s', '/b'] };
  peer.signal('UnitNew', '/org/freedesktop/systemd1');
  await eventually('the new one is found', () => paths(units)?.join() === '/b');
  known['a.scope'] = SWAP;
  peer.signal('PropertiesChanged', unitPath('a.scope'));
  await eventually('the change is found', () => paths(units)?.join() === '/a,/b');
  delete known['b.scope'];
  peer.signal('UnitRemoved', '/org/freedesktop/systemd1');
  await eventually('it is forgotten', () => paths(units)?.join() === '/a');
});

test('a change that systemd does not signal is found when the reading is old', async () => {
  const known: Record<string, Properties> = { 'a.scope': AUTO };
  const units = following(await manager(known));
  await eventually('it is listed', () => paths(units)?.length === 0);
  known['a.scope'] = SWAP;
  units.look(process.hrtime.bigint());
  units.look(later());
  await eventually('the change is found', () => paths(units)?.join() === '/a');
});

test('a unit that systemd did not announce is found when the list is old', async () => {
  const known: Record<string, Properties> = {};
  const units = following(await manager(known));
  await eventually('it is listed', () => paths(units)?.length === 0);
  known['a.scope'] = SWAP;
  units.look(later());
  await eventually('it is found', () => paths(units)?.join() === '/a');
});

test('after a reload of systemd all units are read again', async () => {
  const known: Record<string, Properties> = { 'a.scope': AUTO };
  const peer = await manager(known);
  const units = following(peer);
  await eventually('it is listed', () => paths(units)?.length === 0);
  known['a.scope'] = SWAP;
  peer.signal('Reloading', '/org/freedesktop/systemd1');
  await eventually('the change is found', () => paths(units)?.join() === '/a');
});

test('without a connection the last settings are kept, and all are read again on the next connection', async () => {
  const known: Record<string, Properties> = { 'a.scope': SWAP };
  const peer = await manager(known);
  const units = following(peer);
  await eventually('it is listed', () => paths(units)?.join() === '/a');
  known['a.scope'] = AUTO;
  peer.hangUp();
  await eventually('it is reached again', () => peer.connections === 2 && asked(peer, 'ManagedOOMSwap') === 2);
  await eventually('the change is found', () => paths(units)?.length === 0);
});

test('a manager that does not answer is called again on another connection', async () => {
  const peer = await manager({ 'a.scope': SWAP });
  const answer = peer.answer;
  peer.answer = (call) => (call.member === 'Get' ? undefined : answer(call));
  const units = following(peer);
  await eventually('a unit was asked about', () => asked(peer, 'ManagedOOMSwap') === 1);
  peer.answer = answer;
  units.look(later());
  await eventually('it is listed', () => paths(units)?.join() === '/a');
});

test('at most 512 units of a user are read', async () => {
  const peer = await manager(Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`u${String(index)}.scope`, AUTO])));
  const units = following(peer, 1000);
  await eventually('they are listed', () => units.units());
  expect(asked(peer, 'ManagedOOMSwap')).toBe(512);
});

test('at most eight units are read at once', async () => {
  const peer = await manager(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`u${String(index)}.scope`, AUTO])));
  const answer = peer.answer;
  peer.answer = (call) => (call.member === 'Get' ? undefined : answer(call));
  following(peer);
  await eventually('units were asked about', () => asked(peer, 'OOMRules') === 8);
  expect(asked(peer, 'ManagedOOMSwap')).toBe(8);
});
