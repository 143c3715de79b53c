import { expect, test } from 'vitest';
import { goingDown, type JournalRecord, type WentDown } from './machine.js';

// The machine really goes down. Its workloads: batch and deaf of priority 0 (deaf ignores SIGTERM and has 6 s), web of 1000 (needs 9 s of its 13), exact of
// 1000 (needs all of its 8 s), db, which is critical; and outside, which evictd does not know.

const nameOf = ({ workload }: JournalRecord): string => (workload as { name: string }).name.replace(/^evictd-test-(.*)\.service$/, '$1');
const ended = ({ journal }: WentDown): JournalRecord[] => journal.filter(({ type }) => type === 'ended');

/** `exact` before all others: whether it or evictd is first is open, but not that it has all of its time. */
const order = (record: JournalRecord): number => (nameOf(record) === 'exact' ? 0 : 1);

/** The workloads, by groups. */
const ORDER = [['batch', 'deaf'], ['exact', 'web'], ['db']];

function inOrder(down: WentDown): void {
  const [exact, ...others] = [...ended(down)].sort((a, b) => order(a) - order(b));
  expect(others.map((record) => [nameOf(record), record.result, record.inTime])).toEqual([
    ['batch', 'ended', true],
    ['deaf', 'killed', false],
    ['web', 'ended', true],
    ['db', 'ended', true],
  ]);
  expect(exact).toMatchObject({ type: 'ended', result: expect.stringMatching(/^(ended|killed)$/) as string, gracePeriodSeconds: 8 });
  expect(exact?.afterSeconds).toBeGreaterThanOrEqual(8);
  const plan = down.journal.find(({ type, phase }) => type === 'shutdown' && phase === 'begins');
  const groups = plan?.groups as { workloads: { name: string; path: string }[] }[];
  expect(groups.map(({ workloads }) => workloads.map((workload) => nameOf({ type: '', workload })).sort())).toEqual(ORDER);
  const over = down.journal.find(({ type, phase }) => type === 'shutdown' && phase === 'over');
  expect(over).toMatchObject({ left: [], late: [] });
  expect(down.journal.filter(({ phase }) => phase === 'called-off' || phase === 'interrupted')).toEqual([]);
  // By their own account: a group is told when the one before has ended, and evictd's neighbours by systemd when all have.
  const [batch, deaf, web, db, outside] = ['batch', 'deaf', 'web', 'db', 'outside'].map(down.workload);
  expect(deaf?.ended).toBeUndefined();
  expect(web?.told).toBeGreaterThan((deaf?.told ?? NaN) + 6);
  expect(web?.told).toBeGreaterThan(batch?.ended ?? NaN);
  expect(web?.ended).toBeGreaterThan((web?.told ?? NaN) + 9);
  expect(db?.told).toBeGreaterThan(web?.ended ?? NaN);
  expect(outside?.told).toBeGreaterThan(db?.ended ?? NaN);
}

test('systemctl poweroff: the workloads end group by group, who ignores it is killed, and the rest of the machine follows', async () => {
  inOrder(await goingDown('poweroff', 'poweroff'));
});

test('systemctl reboot, after systemd-logind was started anew', async () => {
  inOrder(await goingDown('reboot', 'reboot', 'logind'));
});

test('evictd killed while the first group ends: the machine goes down in time all the same', async () => {
  const down = await goingDown('killed', 'poweroff', 'kill');
  for (const name of ['batch', 'deaf', 'web', 'exact', 'db', 'outside']) expect(down.workload(name).told, name).toBeGreaterThan(0);
  expect(down.journal.filter(({ type, phase }) => type === 'shutdown' && phase === 'begins').length).toBeGreaterThan(0);
});
