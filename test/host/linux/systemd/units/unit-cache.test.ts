import { expect, onTestFinished, test, vi } from 'vitest';
import type { BusCall, BusReply } from '../../../../../src/host/linux/systemd/bus-connection.js';
import { UnitCache } from '../../../../../src/host/linux/systemd/units/unit-cache.js';
import { unitPath } from '../../../../../src/host/linux/systemd/units/unit-reading.js';

const SECOND = 1_000_000_000n;
const LOST: BusReply = { ok: false, name: undefined, message: 'lost' };

/** A link on which answers are given by hand. */
class Link {
  up = true;
  renewed: string[] = [];
  requested: { readonly call: BusCall; readonly done: (reply: BusReply) => void }[] = [];
  call(call: BusCall, done: (reply: BusReply) => void): boolean {
    this.requested.push({ call, done });
    return true;
  }
  /** As the real one does: pending calls fail. */
  renew(reason: string): void {
    this.renewed.push(reason);
    this.lose();
  }
  lose(): void {
    for (const { done } of this.requested.splice(0)) done(LOST);
  }
  answer(properties: Record<string, unknown> = {}): void {
    for (const { call, done } of this.requested.splice(0)) {
      done(
        call.member === 'GetAll' ? { ok: true, body: [{ ActiveState: 'active', ...properties }] } : { ok: false, name: 'a.b', message: '' },
      );
    }
  }
  get names(): string[] {
    return this.requested.flatMap(({ call: { member, path } }) => (member === 'GetAll' ? path.slice(path.lastIndexOf('/') + 1) : []));
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `a${String(index)}.target`);
const now = (): bigint => process.hrtime.bigint();

function fakeTime(...toFake: ('hrtime' | 'setTimeout' | 'clearTimeout')[]): void {
  vi.useFakeTimers({ toFake });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** One that follows a.target, and has read it. */
function read(): { link: Link; cache: UnitCache } {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target']), now());
  link.answer();
  return { link, cache };
}

test('at most eight units are read at a time, and all in the end', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(names(20)), now());
  expect(link.names).toHaveLength(8);
  for (let round = 0; round < 3; round += 1) link.answer();
  expect(names(20).every((name) => cache.get(name)?.stale === false)).toBe(true);
});

test('after ten seconds without an answer the connection is renewed, and everything is read again', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  const startNs = now();
  cache.follow(new Set(names(20)), startNs);
  cache.follow(new Set(names(20)), startNs + 9n * SECOND);
  expect(link.renewed).toEqual([]);
  cache.follow(new Set(names(20)), now() + 11n * SECOND);
  expect(link.renewed).toHaveLength(1);
  cache.allChanged();
  cache.readOn();
  for (let round = 0; round < 6; round += 1) link.answer();
  expect(names(20).every((name) => cache.get(name)?.stale === false)).toBe(true);
  cache.follow(new Set(names(20)), now());
  expect(link.renewed).toHaveLength(1);
});

test('a unit that changes is read again at once, and once more if it changes while it is read', () => {
  const { link, cache } = read();
  cache.changed(unitPath('a.target'));
  expect(cache.get('a.target')?.stale).toBe(true);
  expect(link.names).toHaveLength(1);
  cache.changed(unitPath('a.target'));
  expect(link.names).toHaveLength(1);
  link.answer({ ActiveState: 'deactivating' });
  expect(cache.get('a.target')).toMatchObject({ activeState: 'deactivating', stale: true });
  link.answer({ ActiveState: 'inactive' });
  expect(cache.get('a.target')).toMatchObject({ activeState: 'inactive', stale: false });
});

test('a new unit may depend on a known one, so earlier readings are unsure, and a decision reads again', () => {
  const { link, cache } = read();
  expect(cache.get('a.target')?.unsure).toBe(false);
  expect(cache.awaited('a.target', now())).toBe(false);
  cache.unitAppeared(undefined);
  expect(cache.get('a.target')).toMatchObject({ unsure: true, stale: false });
  expect(link.names).toEqual([]);
  expect(cache.awaited('a.target', now())).toBe(true);
  expect(cache.awaited('a.target', now())).toBe(true);
  expect(link.names).toHaveLength(1);
  cache.unitAppeared(undefined); // units that appear all the time do not make evictd ask for ever
  link.answer({ RequiredBy: ['b.target'] });
  expect(cache.get('a.target')).toMatchObject({ unsure: false, stopsWith: ['b.target'] });
  expect(cache.awaited('a.target', now())).toBe(false);
});

/** As systemd answers for a new unit: its path, then its properties. */
function answerNew(link: Link, properties: Record<string, unknown>): void {
  const getUnit = link.requested.shift();
  expect(getUnit?.call).toMatchObject({ member: 'GetUnit', path: '/org/freedesktop/systemd1' });
  const path = unitPath(String(getUnit?.call.body?.[0]));
  getUnit?.done({ ok: true, body: [path] });
  const getAll = link.requested.pop();
  expect(getAll?.call).toMatchObject({ member: 'GetAll', path });
  getAll?.done({ ok: true, body: [properties] });
}

test('of the known units only those that a new one names are read again, and until then none is sure', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(names(3)), now());
  link.answer();
  cache.unitAppeared('new.service');
  expect(names(3).map((name) => cache.get(name))).toMatchObject(names(3).map(() => ({ unsure: true, stale: false })));
  answerNew(link, { Id: 'new.service', Requires: ['sysinit.target', 'a1.target'], After: ['basic.target'] });
  expect(names(3).map((name) => cache.get(name)?.unsure)).toEqual([false, true, false]);
  expect(link.names).toEqual(['a1_2etarget']);
  link.answer({ RequiredBy: ['new.service'] });
  expect(cache.get('a1.target')).toMatchObject({ unsure: false, stopsWith: ['new.service'] });
  expect(link.names).toEqual(['new_2eservice']);
});

test('a followed unit that is loaded anew is read again', () => {
  const { link, cache } = read();
  cache.unitAppeared('a.target');
  answerNew(link, { Id: 'a.target' });
  expect(link.names).toEqual(['a_2etarget']);
});

test('a unit that is only needed is not read again because a new unit needs it too', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target']), now());
  link.answer({ Requires: ['sysinit.target'] });
  link.answer();
  cache.unitAppeared('new.service');
  answerNew(link, { Requires: ['sysinit.target'] });
  expect(link.names).toEqual([]);
});

test('while a new unit is looked at, a decision reads what it decides about', () => {
  const { link, cache } = read();
  cache.unitAppeared('new.service');
  const sinceNs = now();
  expect(cache.awaited('a.target', now(), SECOND, sinceNs)).toBe(true);
  const [getUnit] = link.requested.splice(0, 1);
  link.answer();
  expect(cache.get('a.target', sinceNs)?.unsure).toBe(false);
  getUnit?.done({ ok: true, body: [unitPath('new.service')] });
  link.answer({ PartOf: ['a.target'] });
  expect(cache.get('a.target')?.stale).toBe(true);
  expect(link.names).toEqual(['a_2etarget']);
});

test.each<[what: string, reply: BusReply, unsure: boolean]>([
  ['it is not loaded any more', { ok: false, name: 'org.freedesktop.systemd1.NoSuchUnit', message: '' }, false],
  ['systemd refuses', { ok: false, name: 'org.freedesktop.DBus.Error.AccessDenied', message: '' }, true],
  ['the connection is lost', LOST, true],
])('a new unit whose names are not known: %s', (_what, reply, unsure) => {
  const { link, cache } = read();
  cache.unitAppeared('new.service');
  link.requested.splice(0)[0]?.done(reply);
  expect(cache.get('a.target')).toMatchObject({ unsure, stale: false });
  expect(link.requested).toEqual([]);
});

test('the names of eight new units are asked for in ten seconds; with more all units are unsure', () => {
  fakeTime('hrtime');
  const { link, cache } = read();
  vi.advanceTimersByTime(1);
  const appear = (count: number): void => {
    for (let index = 0; index < count; index += 1) cache.unitAppeared(`new${String(index)}.service`);
  };
  appear(8);
  expect(link.requested).toHaveLength(8);
  for (let index = 0; index < 8; index += 1) answerNew(link, {});
  expect(cache.get('a.target')?.unsure).toBe(false);
  appear(1);
  expect(link.requested).toEqual([]);
  expect(cache.get('a.target')?.unsure).toBe(true);
  vi.advanceTimersByTime(10_000);
  appear(9);
  expect(link.requested).toHaveLength(8);
});

test('a unit that appears again while it is looked at is looked at again', () => {
  fakeTime('hrtime');
  const gone: BusReply = { ok: false, name: 'org.freedesktop.systemd1.NoSuchUnit', message: '' };
  const { link, cache } = read();
  vi.advanceTimersByTime(1);
  cache.unitAppeared('new.service');
  vi.advanceTimersByTime(1);
  for (let times = 0; times < 20; times += 1) cache.unitAppeared('new.service');
  expect(link.requested).toHaveLength(1);
  link.requested.shift()?.done(gone);
  expect(cache.get('a.target')?.unsure).toBe(true);
  expect(link.requested).toHaveLength(1);
  link.requested.shift()?.done(gone);
  expect(cache.get('a.target')?.unsure).toBe(false);
  expect(link.requested).toEqual([]);
});

test.each(['a\0b', '', `${'a'.repeat(250)}.service`, 'a/b.service', 'ä.service'])(
  'a signal of a new unit named %j, which no unit can have, makes all unsure',
  (name) => {
    const { link, cache } = read();
    cache.unitAppeared(name);
    expect(cache.get('a.target')?.unsure).toBe(true);
    expect(link.requested).toEqual([]);
  },
);

test('a new unit may use another name of a followed one', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['mysql.target']), now());
  link.answer({ Id: 'mariadb.target' });
  cache.unitAppeared('new.service');
  answerNew(link, { Requires: ['mariadb.target'] });
  expect(link.names).toEqual(['mysql_2etarget']);
});

test('a decision does not count on its reading if a new unit names what it has read', () => {
  const { link, cache } = read();
  cache.unitAppeared(undefined);
  cache.awaited('a.target', now());
  cache.unitAppeared('new.service');
  const getUnit = link.requested.pop();
  link.answer();
  expect(cache.get('a.target')?.unsure).toBe(false);
  getUnit?.done({ ok: true, body: [unitPath('new.service')] });
  link.answer({ PartOf: ['a.target'] });
  expect(cache.get('a.target')?.unsure).toBe(true);
});

test('a needed unit that a new one has named is read again once it may be stopped', () => {
  fakeTime('hrtime');
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target']), now());
  link.answer({ Requires: ['b.target'] });
  link.answer();
  vi.advanceTimersByTime(1);
  cache.unitAppeared('new.service');
  answerNew(link, { Requires: ['b.target'] });
  vi.advanceTimersByTime(61_000);
  cache.follow(new Set(['a.target']), now());
  link.answer({ Requires: ['b.target'] });
  expect(link.requested).toEqual([]);
  cache.follow(new Set(['a.target', 'b.target']), now());
  expect(link.names).toEqual(['b_2etarget']);
});

test('a transient unit that has ended does not stop with another one any more', () => {
  fakeTime('hrtime');
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target', 'b.target']), now());
  link.answer({ ConsistsOf: ['part.target'] });
  link.answer();
  vi.advanceTimersByTime(1);
  cache.changed(unitPath('part.target'));
  link.answer({ LoadState: 'not-found' });
  expect(cache.get('part.target')).toBeUndefined();
  expect(link.names).toEqual(['a_2etarget', 'b_2etarget']);
  link.requested.shift()?.done({ ok: true, body: [{ ActiveState: 'active' }] });
  link.answer({ ConsistsOf: ['part.target'] }); // named in a file
  expect(cache.get('a.target')?.stopsWith).toEqual([]);
  expect(link.requested).toEqual([]);
});

test('a reading from before a new unit is unsure whenever its answer comes', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target']), now());
  cache.unitAppeared(undefined);
  link.answer();
  expect(cache.get('a.target')?.unsure).toBe(true);
});

test('after systemd has reloaded its files everything is unsure', () => {
  const { link, cache } = read();
  cache.allChanged();
  expect(cache.get('a.target')).toMatchObject({ unsure: true, stale: true });
  cache.readOn();
  link.answer();
  expect(cache.get('a.target')).toMatchObject({ unsure: false, stale: false });
});

test('a decision waits neither without a connection nor for a lost answer', () => {
  const { link, cache } = read();
  cache.unitAppeared(undefined);
  link.up = false;
  expect(cache.awaited('a.target', now())).toBe(false);
  link.up = true;
  expect(cache.awaited('a.target', now())).toBe(true);
  expect(cache.awaited('a.target', now() + SECOND)).toBe(false);
  expect(link.names).toHaveLength(1);
});

test('units that depend on a needed unit matter only where that one may be stopped when it is not needed', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target']), now());
  link.answer({ Wants: ['everybodys.target', 'own.target', 'a.slice'] });
  expect(link.names).toEqual(['everybodys_2etarget', 'own_2etarget']);
  const [everybodys, own] = link.requested.splice(0);
  const active = (properties: Record<string, unknown>): BusReply => ({ ok: true, body: [{ ActiveState: 'active', ...properties }] });
  everybodys?.done(active({ RequiredBy: ['b.target', 'c.target'], Wants: ['d.target'] }));
  expect(link.names).toEqual([]);
  own?.done(active({ StopWhenUnneeded: true, WantedBy: ['a.target', 'e.target'], RequiredBy: ['f.target'] }));
  expect(link.names.sort()).toEqual(['e_2etarget', 'f_2etarget']);
  link.answer();
  cache.follow(new Set(['a.target']), now());
  expect(['everybodys.target', 'own.target', 'e.target', 'f.target'].every((name) => cache.get(name) !== undefined)).toBe(true);
});

test('a unit that is not followed any more is forgotten', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(names(2)), now());
  link.answer();
  cache.follow(new Set(['a1.target']), now());
  expect(cache.get('a0.target')).toBeUndefined();
  expect(cache.get('a1.target')).toBeDefined();
});

test('after four minutes only values that change without a signal are read again, and everything if a unit has appeared or gone', () => {
  fakeTime('hrtime');
  const link = new Link();
  const cache = new UnitCache(link);
  const startNs = now();
  cache.follow(new Set(['a.service', 'b.target']), startNs);
  link.answer({ RequiredBy: ['c.target'] });
  link.answer();
  const asked = (): string[] => link.requested.map(({ call: { member, body = [] } }) => [member, ...body.slice(1)].join(' '));
  const later = (seconds: bigint): string[] => {
    cache.follow(new Set(['a.service', 'b.target']), startNs + seconds * SECOND);
    return asked();
  };
  expect(later(239n)).toEqual([]);
  expect(later(241n)).toEqual(['Get MemoryMin', 'Get MemoryLow', 'Get ManagedOOMPreference']);
  for (const { call, done } of link.requested.splice(0)) {
    done({ ok: true, body: [call.body?.[1] === 'ManagedOOMPreference' ? 'omit' : 5n] });
  }
  expect(cache.get('a.service')).toMatchObject({
    ...{ memoryMinBytes: 5n, memoryLowBytes: 5n, managedOomPreference: 'omit' },
    ...{ stopsWith: ['c.target'], activeState: 'active', stale: false },
  });
  expect(later(480n)).toEqual([]);
  expect(later(482n)).toHaveLength(3);
  for (const { done } of link.requested.splice(0)) done({ ok: false, name: 'a.UnknownObject', message: '' });
  expect(link.names).toEqual(['a_2eservice']);
  link.answer();
  vi.advanceTimersByTime(1);
  cache.unitAppeared(undefined);
  later(545n);
  expect(link.names.sort()).toEqual(['a_2eservice', 'b_2etarget', 'c_2etarget']);
  link.answer();
  later(1_500n);
  expect(link.names).toContain('a_2eservice');
});

test('a delayed reading is awaited from its start', () => {
  const link = new Link();
  const cache = new UnitCache(link);
  link.up = false;
  expect(cache.awaited('a.target', now())).toBe(true);
  const sinceNs = now();
  expect(cache.awaited('a.target', sinceNs, 1n)).toBe(false);
  link.up = true;
  cache.readOn();
  expect(cache.awaited('a.target', sinceNs, 1n)).toBe(true);
  expect(cache.awaited('a.target', now() + 4n * SECOND, 3n * SECOND)).toBe(false);
});

test('a reading begun during a decision is sure for that decision, however late the answer and whatever unit appears', () => {
  fakeTime('hrtime');
  const { link, cache } = read();
  vi.advanceTimersByTime(1_000);
  const sinceNs = now();
  expect(cache.awaited('a.target', now(), 5n * SECOND, sinceNs)).toBe(false);
  cache.unitAppeared(undefined);
  expect(cache.get('a.target', sinceNs)?.unsure).toBe(true);
  vi.advanceTimersByTime(100);
  expect(cache.awaited('a.target', now(), 5n * SECOND, sinceNs)).toBe(true);
  vi.advanceTimersByTime(4_000);
  expect(cache.awaited('a.target', now())).toBe(false);
  expect(cache.awaited('a.target', now(), 5n * SECOND, sinceNs)).toBe(true);
  cache.unitAppeared(undefined);
  link.answer();
  expect(cache.get('a.target')?.unsure).toBe(true);
  expect(cache.get('a.target', sinceNs)?.unsure).toBe(false);
  expect(cache.awaited('a.target', now(), 5n * SECOND, sinceNs)).toBe(false);
  const laterNs = now() + 1n;
  vi.advanceTimersByTime(1);
  expect(cache.get('a.target', laterNs)?.unsure).toBe(true);
});

test('a unit that changed since its reading is awaited once by a later decision', () => {
  const { link, cache } = read();
  const sinceNs = now();
  cache.changed(unitPath('a.target'));
  link.lose();
  expect(cache.awaited('a.target', now())).toBe(false);
  expect(cache.awaited('a.target', now(), SECOND, sinceNs)).toBe(true);
  link.answer();
  expect(cache.awaited('a.target', now(), SECOND, sinceNs)).toBe(false);
  cache.changed(unitPath('a.target'));
  expect(cache.awaited('a.target', now(), SECOND, sinceNs)).toBe(false);
});

test('without a connection a decision with seconds left waits', () => {
  const { link, cache } = read();
  cache.unitAppeared(undefined);
  link.up = false;
  const sinceNs = now();
  expect(cache.awaited('a.target', sinceNs, SECOND)).toBe(false);
  expect(cache.awaited('a.target', sinceNs, SECOND, sinceNs)).toBe(true);
  expect(cache.awaited('a.target', sinceNs + SECOND, SECOND, sinceNs)).toBe(false);
});

test.each<[what: string, times: Record<string, bigint>, since: bigint | undefined]>([
  ['active since then', { ActiveEnterTimestampMonotonic: 9n, InactiveExitTimestampMonotonic: 8n }, 9_000n],
  ['a oneshot that runs again', { ActiveEnterTimestampMonotonic: 4n, InactiveExitTimestampMonotonic: 8n }, 8_000n],
  ['the unit was never started', { ActiveEnterTimestampMonotonic: 0n, InactiveExitTimestampMonotonic: 0n }, undefined],
])('the time since which a unit runs: %s', (_what, times, since) => {
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.target']), now());
  link.answer(times);
  expect(cache.get('a.target')?.sinceNs).toBe(since);
});

test('of many old units four are read again at a time, and the others without being asked for', () => {
  fakeTime('hrtime', 'setTimeout', 'clearTimeout');
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(names(10)), now());
  for (let round = 0; round < 2; round += 1) link.answer();
  vi.advanceTimersByTime(60_000);
  cache.unitAppeared(undefined);
  const rounds = [0, 1, 2, 3].map((round) => {
    if (round === 0) cache.follow(new Set(names(10)), now());
    else vi.advanceTimersByTime(10_000);
    const asked = link.names.length;
    link.answer();
    return asked;
  });
  expect(rounds).toEqual([4, 4, 2, 0]);
  expect(names(10).every((name) => cache.get(name)?.unsure === false)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  cache.unitAppeared(undefined);
  cache.follow(new Set(names(10)), now());
  expect(vi.getTimerCount()).toBe(1);
  cache.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('a unit that only stops with a workload is asked again after a minute: a decision does not read its cgroup', () => {
  fakeTime('hrtime');
  const startNs = now();
  const link = new Link();
  const cache = new UnitCache(link);
  cache.follow(new Set(['a.service']), startNs);
  link.answer({ RequiredBy: ['c.service'] });
  link.answer();
  const later = (seconds: bigint): Set<string> => {
    cache.follow(new Set(['a.service']), startNs + seconds * SECOND);
    return new Set(link.requested.map(({ call }) => call.path));
  };
  expect(later(59n)).toEqual(new Set());
  expect(later(61n)).toEqual(new Set([unitPath('c.service')]));
});
