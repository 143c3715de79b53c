import { expect, onTestFinished, test } from 'vitest';
import { inFlight } from '../../../src/core/decide/eviction.js';
import type { Hold } from '../../../src/core/systemd/unit-hold.js';
import { initialState, type State } from '../../../src/core/decide/state.js';
import { SystemdUnits } from '../../../src/host/linux/systemd/unit-manager.js';
import { Status } from '../../../src/metrics/status.js';
import { restoreState } from '../../../src/state/saved-state.js';
import { releaseHeldUnits } from '../../../src/features/restart-storm/stopped-units.js';
import type { JournalRecord } from '../../../src/journal/records/record.js';
import { Releases } from '../../../src/monitor/unit-releases.js';
import { Reporter } from '../../../src/monitor/reporter.js';
import { StateKeeper } from '../../../src/state/state-keeper.js';
import { candidates, Mi, policy, threshold, workload } from '../../core/support.js';
import { Timeline } from '../../core/timeline.js';
import { BusPeer } from '../../host/linux/systemd/bus-peer.js';
import { eventually } from '../../support/eventually.js';

const hard = threshold('memory.available', '100Mi');
const owner = { node: 'played', cgroupId: '', bootId: 'this' };
const hold = (unit: string): Hold => ({ unit, decision: 1, start: [unit], unstarted: [], condition: 'MemoryPressure', untilNs: undefined });
const job = { signature: 'uososa(uosos)', body: [1, '/job/1', 'b.service', '/unit/b', 'start', []] };

/** An evictd whose loop has ended, with a played systemd on a real socket. */
async function ended(peer: BusPeer, state: State) {
  const units = new SystemdUnits([{ path: peer.path, daemon: false }]);
  onTestFinished(() => {
    units.close();
  });
  await eventually('it is reached', () => units.connect());
  const texts: string[] = [];
  const file = { fits: () => true, write: (text: string) => void texts.push(text) };
  const onError = ({ message }: Error): void => expect.unreachable(message);
  const keeper = new StateKeeper({
    file,
    owner,
    bootNs: () => process.hrtime.bigint(),
    sections: {},
    onShortened: () => undefined,
    onError,
  });
  const times = { crossingNs: 1n, wakeNs: 1n, decisionNs: 1n, signalNs: 1n, killNs: undefined };
  keeper.keep(state, new Map(state.evictions.map(({ decision: { serial } }) => [serial, { times, sent: 'signalNs' as const }])));
  const records: JournalRecord[] = [];
  const said: string[] = [];
  const log = (message: string): void => void said.push(message);
  const reporter = new Reporter({ debug: log, info: log, warn: log, error: log, dropped: 0, flush: () => Promise.resolve() }, new Status());
  const parts = {
    releases: new Releases(units, () => undefined),
    keeper,
    reporter,
    journal: { record: (it: JournalRecord) => void records.push(it) },
  };
  return {
    release: (timeoutMs: number) => releaseHeldUnits(state, parts, timeoutMs),
    said,
    reported: () => records.map(({ type, unit, errors }) => ({ type, unit, errors })),
    left: () => {
      const now = process.hrtime.bigint();
      return restoreState(texts.at(-1) ?? '', owner, policy([hard]), { monotonicNs: now, bootNs: now });
    },
  };
}

const holding = (...units: string[]): State => ({ ...initialState, held: new Map(units.map((unit) => [unit, hold(unit)])) });
const starts = (peer: BusPeer): unknown[] => peer.calls.flatMap(({ member, body }) => (member === 'EnqueueUnitJob' ? [body?.[0]] : []));

test('at the end each unit that systemd answers for is released, with a record that it is started or why not', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member, body }) => (member === 'EnqueueUnitJob' && body?.[0] === 'b.service' ? job : { error: 'a.b' });
  const it = await ended(peer, holding('b.service', 'masked.service'));
  await it.release(10_000);
  expect(it.reported()).toEqual([
    { type: 'release', unit: 'b.service', errors: undefined },
    { type: 'release', unit: 'masked.service', errors: ['masked.service: it says no'] },
  ]);
  expect(it.said).toEqual([expect.stringMatching(/^masked\.service was kept stopped.*\(systemctl start masked\.service\)$/)]);
  expect(it.left().state.held.size).toBe(0);
});

test('a unit that systemd does not answer for is left to the next evictd, which is logged', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) => (member === 'EnqueueUnitJob' ? undefined : { error: 'a.b' });
  const it = await ended(peer, holding('b.service'));
  await it.release(2_000);
  expect(it.reported()).toEqual([{ type: 'release', unit: 'b.service', errors: ['systemd does not answer'] }]);
  expect(it.said).toEqual([expect.stringMatching(/: systemd does not answer \(the next evictd starts it, or run `evictd restore`\)$/)]);
  expect([...it.left().state.held.keys()]).toEqual(['b.service']);
});

test('a unit whose connection is lost before the request is left to the next evictd, too', async () => {
  const peer = await BusPeer.open();
  peer.answer = () => undefined;
  const it = await ended(peer, holding('b.service'));
  const released = it.release(10_000);
  await eventually('what conflicts with it is asked', () => peer.calls.some(({ member }) => member === 'GetAll'));
  peer.close(); // permanently
  await released;
  expect([starts(peer), it.reported()]).toEqual([
    [],
    [{ type: 'release', unit: 'b.service', errors: ['the connection to systemd was lost'] }],
  ]);
  expect([...it.left().state.held.keys()]).toEqual(['b.service']);
});

test('units that are being evicted are not started, and their sent signals are remembered', async () => {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) => (member === 'EnqueueUnitJob' ? job : { error: 'a.b' });
  const timeline = new Timeline(
    policy([hard]),
    candidates([workload('batch', { unit: { name: 'batch.service', manager: 'system' } }), 300n * Mi]),
  );
  timeline.memory(0, 50n);
  const requested = { graceNs: 60_000_000_000n, decidedAtNs: process.hrtime.bigint() };
  const evictions = timeline.state.evictions.map(({ decision }) => inFlight({ ...decision, ...requested }));
  const it = await ended(peer, { ...holding('batch.service', 'b.service'), evictions });
  await it.release(10_000);
  expect(starts(peer)).toEqual(['b.service']);
  expect(it.reported()).toContainEqual({
    type: 'release',
    unit: 'batch.service',
    errors: ['evictd stops before the eviction of the unit is over'],
  });
  const { state, signals } = it.left();
  expect([[...state.held.keys()], state.evictions.length, signals.size]).toEqual([['batch.service'], 1, 1]);
});
