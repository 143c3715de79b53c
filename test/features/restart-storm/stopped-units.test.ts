import { expect, onTestFinished, test } from 'vitest';
import type { Hold } from '../../../src/core/systemd/unit-hold.js';
import { SystemdUnits } from '../../../src/host/linux/systemd/unit-manager.js';
import { stillStoppedText, startHeldUnits, type StillStopped } from '../../../src/features/restart-storm/stopped-units.js';
import { BusPeer } from '../../host/linux/systemd/bus-peer.js';

const hold = (unit: string, ...more: string[]): Hold => ({
  unit,
  decision: 1,
  start: [...more, unit],
  unstarted: [],
  condition: 'MemoryPressure',
  untilNs: undefined,
});

function unitsOf(path: string): SystemdUnits {
  const units = new SystemdUnits([{ path, daemon: false }]);
  onTestFinished(() => {
    units.close();
  });
  return units;
}

const job = { signature: 'uososa(uosos)', body: [1, '/job/1', 'b.service', '/unit/b', 'start', []] };

test('each unit is started with its other units, in order, and a refusal is reported for its unit', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member, body }) => (member === 'EnqueueUnitJob' && body?.[0] !== 'c.service' ? job : { error: 'a.NoSuchUnit' });
  const released = await startHeldUnits(unitsOf(peer.path), [hold('b.service', 'b.socket'), hold('c.service')], 10_000);
  expect(released).toMatchObject([
    { kind: 'started' },
    { kind: 'refused', hold: { unit: 'c.service' }, why: { reasons: ['c.service: it says no'] } },
  ]);
  const requested = peer.calls.filter(({ member }) => member === 'EnqueueUnitJob').map(({ body }) => body?.[0]);
  // The two have no order: each is requested when its conflicts are known.
  expect(requested.filter((unit) => unit !== 'c.service')).toEqual(['b.socket', 'b.service']);
  expect(requested).toHaveLength(3);
});

test('a unit that conflicts with a running unit is not started, and both are named', async () => {
  const peer = await BusPeer.open();
  const units: Record<string, readonly unknown[]> = {
    b_2eservice: [['ConflictedBy', ['as', ['fallback.service']]]],
    fallback_2eservice: [['ActiveState', ['s', 'active']]],
  };
  peer.answer = ({ member, path = '' }) => {
    if (member === 'EnqueueUnitJob') return job;
    return member === 'GetAll' ? { signature: 'a{sv}', body: [units[path.slice(path.lastIndexOf('/') + 1)] ?? []] } : { error: 'a.b' };
  };
  const released = await startHeldUnits(unitsOf(peer.path), [hold('b.service'), hold('c.service')], 10_000);
  expect(released).toMatchObject([
    { kind: 'refused', hold: { unit: 'b.service' }, why: { reasons: ['b.service conflicts with fallback.service, which is running'] } },
    { kind: 'started' },
  ]);
  expect(stillStoppedText(released[0] as StillStopped)).toBe(
    'b.service is kept stopped: b.service conflicts with fallback.service, which is running; to start it: systemctl stop fallback.service && evictd restore; ' +
      'to leave it stopped: evictd restore --forget b.service',
  );
  expect(peer.calls.filter(({ member }) => member === 'EnqueueUnitJob').map(({ body }) => body?.[0])).toEqual(['c.service']);
});

test('a systemd that does not answer and one that does not run are reported', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  expect(await startHeldUnits(unitsOf(peer.path), [hold('b.service')], 200)).toMatchObject([
    { kind: 'open', reason: 'systemd did not report in time which units conflict with it' },
  ]);
  expect(await startHeldUnits(unitsOf('/nonexistent/socket'), [hold('b.service')], 50)).toMatchObject([
    { kind: 'open', reason: expect.stringMatching(/^systemd does not answer/) as string },
  ]);
});
