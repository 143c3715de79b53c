import { expect, onTestFinished, test } from 'vitest';
import { unitPath } from '../../../src/host/linux/systemd/units/unit-reading.js';
import { SystemdUnits } from '../../../src/host/linux/systemd/unit-manager.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { finalUnitStopOf, withUnitStops } from '../../../src/workloads/systemd/unit-stops.js';
import { candidates, workload } from '../../core/support.js';
import { BusPeer } from '../../host/linux/systemd/bus-peer.js';
import { eventually } from '../../support/eventually.js';

const batch = workload('batch.service', { unit: { name: 'batch.service', manager: 'system' } });
const ofUser = workload('batch.service', { id: 'u', unit: { name: 'batch.service', manager: 'user' } });
const source: WorkloadSource = {
  candidates: () => candidates([batch, 1n], [ofUser, 1n]),
  refresh: () => undefined,
  problems: () => [],
  holding: () => undefined,
  close: () => undefined,
};

let peer: BusPeer;
let lastUnits: SystemdUnits;
const SOON_NS = 250_000_000n;

/** systemd has batch.service, and web.service, which hangs on it as it is said. */
async function withSystemd(
  dependency: 'RequiredBy' | 'BoundBy',
  isAnswering: boolean | (() => boolean) = true,
  controlGroup = '/batch.service',
  hanging: readonly string[] = ['web.service'],
  more: readonly unknown[] = [],
  from = source,
  activeState = () => 'active',
): Promise<WorkloadSource> {
  peer = await BusPeer.open();
  const answers = typeof isAnswering === 'boolean' ? () => isAnswering : isAnswering;
  const all = (name: string): readonly unknown[] => [
    ['Id', ['s', name]],
    ['ActiveState', ['s', activeState()]],
    [dependency, ['as', name === 'batch.service' ? [...hanging] : []]],
    ...more,
  ];
  peer.answer = ({ member, path = '', body }) => {
    if (member === 'GetAll')
      return answers() ? { signature: 'a{sv}', body: [all(path.includes('batch') ? 'batch.service' : 'web.service')] } : undefined;
    if (member === 'Get' && body?.[1] === 'ControlGroup')
      return { signature: 'v', body: [['s', path.includes('batch') ? controlGroup : '/web.service']] };
    return member === 'Get' ? { error: 'org.freedesktop.DBus.Error.UnknownProperty' } : { signature: '', body: [] };
  };
  const units = new SystemdUnits([{ path: peer.path, daemon: false }]);
  onTestFinished(() => {
    units.close();
  });
  lastUnits = units;
  return withUnitStops(from, units, ({ name }, besidesCritical) => besidesCritical !== true && name === 'web.service');
}

const signalledBecause = (wrapped: WorkloadSource): string | undefined => {
  const stop = wrapped.candidates().stop?.(batch);
  return stop?.kind === 'signal' ? stop.because : undefined;
};

test('a unit is awaited until systemd has reported it and its dependents', async () => {
  const wrapped = await withSystemd('RequiredBy');
  expect(wrapped.candidates().awaited?.(batch, SOON_NS)).toBe(true);
  await eventually('it is known', () => signalledBecause(wrapped) === 'protected');
  expect(wrapped.candidates().stop?.(batch)).toMatchObject({ unit: 'web.service' });
  await eventually('no longer awaited', () => wrapped.candidates().awaited?.(batch, SOON_NS) === false);
  expect(wrapped.candidates().veto?.(batch)).toBeUndefined();
});

test('a unit whose stop would stop a protected one is not evicted', async () => {
  const wrapped = await withSystemd('BoundBy');
  await eventually('it is known', () => wrapped.candidates().veto?.(batch));
  expect(wrapped.candidates().veto?.(batch)).toEqual({ kind: 'protected-dependant', unit: 'web.service', how: 'stops' });
});

test('a critical unit ends at a shutdown only, and may then stop units that are protected as critical', async () => {
  const wrapped = await withSystemd('BoundBy');
  await eventually('it is known', () => wrapped.candidates().veto?.(batch));
  const critical = { ...batch, protection: { kind: 'critical' } } as const;
  await eventually('what hangs on it is known, too', () => wrapped.candidates().stop?.(critical)?.kind === 'stop');
  const found = wrapped.candidates();
  expect([found.veto?.(critical), found.stop?.(critical)]).toMatchObject([undefined, { kind: 'stop', dependants: ['web.service'] }]);
});

test('a unit that is still unknown after a short wait is signalled', async () => {
  const wrapped = await withSystemd('BoundBy', false);
  expect(wrapped.candidates().awaited?.(batch, SOON_NS)).toBe(true);
  await eventually('no longer awaited', () => wrapped.candidates().awaited?.(batch, SOON_NS) === false);
  expect(wrapped.candidates().veto?.(batch)).toBeUndefined();
  expect(wrapped.candidates().stop?.(batch)).toMatchObject({ kind: 'signal', because: 'unknown', unit: 'batch.service' });
});

test("a user's unit of the same name is another unit", async () => {
  const wrapped = await withSystemd('BoundBy');
  await eventually('the other is known', () => wrapped.candidates().veto?.(batch));
  const found = wrapped.candidates();
  expect([found.awaited?.(ofUser, SOON_NS), found.veto?.(ofUser), found.stop?.(ofUser)]).toEqual([false, undefined, undefined]);
});

test('a cgroup that only has the name of a unit is not that unit', async () => {
  const wrapped = await withSystemd('BoundBy', true, '/system.slice/batch.service');
  await eventually('it is known', () => signalledBecause(wrapped) === 'elsewhere');
  const found = wrapped.candidates();
  expect(found.veto?.(batch)).toBeUndefined();
});

test('after a new unit, which may depend on it, a unit is read once more', async () => {
  const hanging: string[] = [];
  const wrapped = await withSystemd('BoundBy', true, '/batch.service', hanging);
  await eventually('it is known', () => wrapped.candidates().stop?.(batch)?.kind === 'stop');
  hanging.push('web.service');
  const found = wrapped.candidates(); // before it comes: what is asked for ahead is asked for with the next
  peer.signal('UnitNew', '/org/freedesktop/systemd1');
  await eventually('it is known', () => found.awaited?.(batch, SOON_NS) === false && found.veto?.(batch));
  expect(found.veto?.(batch)).toEqual({ kind: 'protected-dependant', unit: 'web.service', how: 'stops' });
});

test('a unit is signalled if systemd does not answer about a new unit', async () => {
  let isAnswering = true;
  const wrapped = await withSystemd('BoundBy', () => isAnswering, '/batch.service', []);
  await eventually('it is known', () => wrapped.candidates().stop?.(batch)?.kind === 'stop');
  isAnswering = false;
  const found = wrapped.candidates();
  peer.signal('UnitNew', '/org/freedesktop/systemd1');
  await eventually('the new unit is known', () => found.stop?.(batch)?.kind === 'signal');
  expect(found.stop?.(batch)).toMatchObject({ because: 'unsure', unit: 'batch.service' });
  await eventually('no longer awaited', () => found.awaited?.(batch, SOON_NS) === false);
});

test('a unit whose end reboots the machine may not be evicted', async () => {
  const wrapped = await withSystemd('BoundBy', true, '/batch.service', [], [['FailureAction', ['s', 'reboot']]]);
  await eventually('it is known', () => wrapped.candidates().veto?.(batch));
  expect(wrapped.candidates().veto?.(batch)).toEqual({ kind: 'emergency-action', unit: 'batch.service', setting: 'FailureAction=reboot' });
  expect(wrapped.candidates().stop?.(batch)).toBeUndefined();
});

test('no wait exceeds its limit', async () => {
  const wrapped = await withSystemd('BoundBy', false);
  expect(wrapped.candidates().awaited?.(batch, 1n << 40n)).toBe(true);
  expect(wrapped.candidates().awaited?.(batch, 1n)).toBe(false);
});

test('a decision that has more time waits longer for a slow systemd', async () => {
  const found = (await withSystemd('BoundBy', false)).candidates();
  expect(found.awaited?.(batch, SOON_NS)).toBe(true);
  await eventually('one with little time goes on', () => !lastUnits.awaited('batch.service') && !found.awaited?.(batch, SOON_NS));
  expect(found.awaited?.(batch, 1n << 40n)).toBe(true);
});

test('no wait exceeds its limit, even if other workloads are read meanwhile', async () => {
  const wrapped = await withSystemd('BoundBy', false);
  const other = workload('other.service', { id: 'o', unit: { name: 'other.service', manager: 'system' } });
  expect(wrapped.candidates().awaited?.(batch, 1n << 40n)).toBe(true);
  expect(wrapped.candidates().awaited?.(other, 1n << 40n)).toBe(true);
  expect(wrapped.candidates().awaited?.(batch, 1n)).toBe(false);
});

test('a unit whose stop would stop a protected one is vetoed even if its preference has changed', async () => {
  const changed: WorkloadSource = { ...source, candidates: () => ({ ...source.candidates(), veto: () => ({ kind: 'changed' }) }) };
  const wrapped = await withSystemd('BoundBy', true, '/batch.service', ['web.service'], [], changed);
  expect(wrapped.candidates().veto?.(batch)).toEqual({ kind: 'changed' });
  await eventually('it is known', () => wrapped.candidates().veto?.(batch)?.kind !== 'changed');
  expect(wrapped.candidates().veto?.(batch)).toEqual({ kind: 'protected-dependant', unit: 'web.service', how: 'stops' });
});

test('a killed unit has the dependents it had while it ran, when systemd is sure', async () => {
  let isAnswering = true;
  let activeState = 'active';
  await withSystemd(
    'RequiredBy',
    () => isAnswering,
    '/batch.service',
    [],
    [],
    undefined,
    () => activeState,
  );
  const sure = finalUnitStopOf(lastUnits, () => false);
  await eventually('it is known', () => typeof sure(batch) === 'object');
  isAnswering = false;
  peer.signal('UnitNew', '/org/freedesktop/systemd1');
  await eventually('a unit may depend on it now', () => sure(batch) === 'awaited');
  [isAnswering, activeState] = [true, 'failed'];
  peer.signal('PropertiesChanged', unitPath('batch.service'));
  await eventually('it is read again', () => lastUnits.unit('batch.service')?.activeState === 'failed');
  expect(sure(batch)).toMatchObject({ kind: 'stop' });
});

test('at a shutdown a unit is waited for since the turn of its group, for the given time', async () => {
  let isAnswering = true;
  const wrapped = await withSystemd('BoundBy', () => isAnswering, '/batch.service', []);
  await eventually('it is known', () => wrapped.candidates().stop?.(batch)?.kind === 'stop');
  isAnswering = false;
  const turn = { sinceNs: process.hrtime.bigint() };
  const found = wrapped.candidates();
  peer.signal('UnitNew', '/org/freedesktop/systemd1');
  await eventually('the new unit is known', () => found.stop?.(batch, { shutdown: turn })?.kind === 'signal');
  await eventually('an eviction does not wait any more', () => !found.awaited?.(batch, SOON_NS));
  expect(found.awaited?.(batch, 1n << 40n, turn)).toBe(true);
  expect(found.awaited?.(batch, 1n, turn)).toBe(false);
});

test('at a shutdown a unit is also waited for until systemd can be reached again', async () => {
  const wrapped = await withSystemd('BoundBy', true, '/batch.service', []);
  await eventually('it is known', () => wrapped.candidates().stop?.(batch)?.kind === 'stop');
  const turn = { sinceNs: process.hrtime.bigint() };
  const found = wrapped.candidates();
  expect(found.awaited?.(batch, 1n << 40n, turn)).toBe(false);
  peer.close();
  await eventually('the connection is lost', () => found.stop?.(batch, { shutdown: turn })?.kind === 'signal');
  expect([found.awaited?.(batch, 1n << 40n, turn), found.awaited?.(batch, 1n, turn)]).toEqual([true, false]);
});
