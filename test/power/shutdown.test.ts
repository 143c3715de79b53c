import { expect, test } from 'vitest';
import { goingDown, type JournalRecord, type WentDown } from './machine.js';

// The machine really shuts down, and logind waits for 120 s at most. Its workloads: batch and deaf of priority 0 (deaf
// ignores SIGTERM and has 6 s), web of 1000 (needs 9 s of its 40), exact of 1000 (needs all of its 8 s), db, which is
// critical; and outside, which evictd does not know.

const LOGIND_WAITS = 120;
const NAMES = ['batch', 'deaf', 'exact', 'web', 'db', 'outside'] as const;

const nameOf = ({ workload }: JournalRecord): string => (workload as { name: string }).name.replace(/^evictd-test-(.*)\.service$/, '$1');
const phases = ({ journal }: WentDown): unknown[] => journal.filter(({ type }) => type === 'shutdown').map(({ phase }) => phase);

/** Workloads by group. */
const ORDER = [['batch', 'deaf'], ['exact', 'web'], ['db']];

function inOrder(down: WentDown): void {
  expect(phases(down)).toEqual(['begins', 'over']);
  const [plan, over] = down.journal.filter(({ type }) => type === 'shutdown');
  const groups = plan?.groups as { workloads: { name: string; path: string }[] }[];
  expect(groups.map(({ workloads }) => workloads.map((workload) => nameOf({ type: '', workload })).sort())).toEqual(ORDER);
  expect(over).toMatchObject({ survived: [], late: [] });

  // By the journal of evictd.
  const ended = down.journal.filter(({ type }) => type === 'ended');
  expect(ended.map(({ group }) => group)).toEqual([0, 0, 1000, 1000, 2_000_000_000]);
  const [batch, deaf, exact, web, db] = ORDER.flat().map((name) => ended.find((record) => nameOf(record) === name));
  for (const one of [batch, web, db]) expect(one).toMatchObject({ result: 'ended', inTime: true });
  expect(deaf).toMatchObject({ result: 'killed', inTime: false, gracePeriodSeconds: 6 });
  expect(deaf?.afterSeconds).toBeGreaterThanOrEqual(6);
  expect(deaf?.afterSeconds).toBeLessThan(20); // the time of its group
  // It may end or be killed first, but not before its grace period is over.
  expect(exact).toMatchObject({ result: expect.stringMatching(/^(ended|killed)$/) as string, gracePeriodSeconds: 8 });
  expect(exact?.afterSeconds).toBeGreaterThanOrEqual(8);
  expect(web?.afterSeconds).toBeGreaterThanOrEqual(9);
  expect(over?.tookSeconds).toBeGreaterThanOrEqual(6 + 9);
  expect(over?.tookSeconds).toBeLessThan(LOGIND_WAITS);

  // By the workloads: a group gets SIGTERM when the one before has ended, other units when all have.
  const own = Object.fromEntries(NAMES.map((name) => [name, down.workload(name)]));
  const ends = (name: string): number => own[name]?.ended ?? NaN;
  expect(own.deaf).toEqual({ sigterm: expect.any(Number) as number, ended: undefined });
  expect(own.web?.sigterm).toBeGreaterThanOrEqual(ends('batch'));
  expect(own.db?.sigterm).toBeGreaterThanOrEqual(ends('web'));
  expect(own.outside?.sigterm).toBeGreaterThanOrEqual(ends('db'));
  expect(own.outside?.sigterm).toBeLessThan(LOGIND_WAITS);
}

test('systemctl poweroff ends workloads group by group, kills one that ignores SIGTERM, and the other units follow', async () => {
  inOrder(await goingDown('poweroff', 'poweroff'));
});

test('systemctl reboot works after a restart of systemd-logind', async () => {
  inOrder(await goingDown('reboot', 'reboot', 'logind'));
});

test('evictd drain, then systemctl reboot in a unit: drain ends what it may, and graceful shutdown the critical workload', async () => {
  const down = await goingDown('drained', 'reboot', 'drain');
  const of = (type: string) => down.journal.filter((record) => record.type === type);
  const drained = of('decision').map(({ kind, disruption, victim }) => [
    kind,
    (disruption as { reason: string }).reason,
    nameOf({ type: '', workload: victim }),
  ]);
  expect(drained.map(([, , name]) => name).sort()).toEqual(ORDER.slice(0, 2).flat().sort());
  for (const [kind, reason] of drained) expect([kind, reason]).toEqual(['disruption', 'drain']);
  expect(of('drain')).toMatchObject([{ event: 'begin' }, { event: 'end', because: 'drained' }]);
  expect(of('ended')).toMatchObject([{ result: 'ended', inTime: true }]);
  expect(of('ended').map(nameOf)).toEqual(['db']);
  expect(phases(down)).toEqual(['begins', 'over']);
  const { sigterm: db = NaN } = down.workload('db');
  for (const name of ['batch', 'web']) expect(down.workload(name).ended, name).toBeLessThanOrEqual(db);
  expect(down.workload('outside').sigterm).toBeGreaterThanOrEqual(down.workload('db').ended ?? NaN);
});

test('after a kill of evictd while the first group ends the machine does not wait, and shuts down in time', async () => {
  const down = await goingDown('killed', 'poweroff', 'kill');
  // A restarted evictd is stopped with all units, and kills no workload before its grace period is over.
  expect(phases(down)[0]).toBe('begins');
  expect(phases(down)).not.toContain('over');
  for (const { afterSeconds, gracePeriodSeconds } of down.journal.filter(({ result }) => result === 'killed'))
    expect(afterSeconds).toBeGreaterThanOrEqual(gracePeriodSeconds as number);
  const signalled = NAMES.map((name) => down.workload(name).sigterm);
  expect(signalled).toEqual(NAMES.map(() => expect.any(Number) as number));
  const { sigterm: outside = NaN } = down.workload('outside');
  expect(outside).toBeGreaterThan(down.time('killed'));
  // Long before the limit of logind; and systemd gave each unit its stop timeout.
  expect(outside).toBeLessThan(LOGIND_WAITS / 2);
  for (const name of ['batch', 'web', 'exact', 'db']) expect(down.workload(name).ended, name).toBeLessThan(LOGIND_WAITS);
});
