import { expect, test } from 'vitest';
import {
  claimUnplaced,
  countersRead,
  openLedger,
  overdue,
  killLogged,
  type KillLedger,
} from '../../../src/features/oom/oom-kill-ledger.js';
import type { OomTally } from '../../../src/core/oom/oom-kill-count.js';
import { SECOND } from '../../core/support.js';

/** v1's kind of counters, where each cgroup has its own: how kills are placed is oom-tally's. */
function tally(kills: Readonly<Record<string, number>>, total?: number): OomTally {
  const cgroups = Object.entries(kills).map(
    ([path, count], index) => [BigInt(index + 1), { path, kills: count, ownKills: count, limitHits: undefined }] as const,
  );
  return { total, hierarchical: false, cgroups: new Map(cgroups) };
}

const open = ({ open: list }: KillLedger): string[] => list.map(({ cgroup, count }) => `${cgroup ?? '?'} ${String(count)}`);
const look = (ledger: KillLedger, now: OomTally, atNs = 0n): KillLedger => countersRead(ledger, now, ledger.logged.length, atNs);

test.each<[rule: string, log: string[], counters: Record<string, number>, open: string[]]>([
  ['logged and counted', ['/s/a'], { '/s/a': 1 }, []],
  ['counted only', [], { '/s/a': 2 }, ['/s/a 2']],
  ['one of two kills was logged', ['/s/a'], { '/s/a': 2 }, ['/s/a 1']],
  ['logged in another cgroup', ['/s/b'], { '/s/a': 1 }, ['/s/a 1']],
  ['logged in a cgroup with the same prefix', ['/s/ab'], { '/s/a': 1 }, ['/s/a 1']],
  ['logged in a removed cgroup: counted by its parent', ['/s/a/gone'], { '/s/a': 1 }, []],
  ['logged for a group, counted in a descendant', ['/s/a'], { '/s/a/inner': 1 }, []],
  ['the nearest closes', ['/s/a/x'], { '/s': 1, '/s/a': 1 }, ['/s 1']],
  ['the very same before the nearest', ['/s', '/s/a'], { '/s/a': 1, '/s': 1 }, []],
  ['logged, not counted: the counter was removed with its cgroup', ['/s/a', '/s/a'], {}, []],
])('%s', (_rule, log, counters, left) => {
  const ledger = log.reduce(killLogged, openLedger(tally({})));
  expect(open(look(ledger, tally(counters)))).toEqual(left);
});

test('a kill that was logged before a reading but is not counted in it matches no later count', () => {
  const ledger = look(killLogged(openLedger(tally({})), '/s/a'), tally({}));
  expect(open(look(ledger, tally({ '/s/a': 1 })))).toEqual(['/s/a 1']);
});

test('a kill logged during a reading may be counted in it or not', () => {
  const began = openLedger(tally({}));
  const during = killLogged(began, '/s/a');
  const counts = countersRead(during, tally({ '/s/a': 1 }), began.logged.length, 0n); // it was
  expect(open(counts)).toEqual([]);
  expect(open(look(counts, tally({ '/s/a': 2 })))).toEqual(['/s/a 1']);
  const misses = countersRead(during, tally({}), began.logged.length, 0n); // it was not
  expect(open(look(misses, tally({ '/s/a': 1 })))).toEqual([]);
});

test('kills counted before the log wait for it, and are due once', () => {
  let ledger = look(openLedger(tally({})), tally({ '/s/a': 2 }), 5n * SECOND);
  expect(overdue(ledger, 5n * SECOND, SECOND).kills).toEqual([]);
  ledger = look(killLogged(ledger, '/s/a'), tally({ '/s/a': 2 }), 6n * SECOND);
  const due = overdue(ledger, 6n * SECOND, SECOND);
  expect(due.kills).toMatchObject([{ cgroup: '/s/a', count: 1 }]);
  expect(overdue(due.ledger, 60n * SECOND, SECOND).kills).toEqual([]);
  expect(open(look(due.ledger, tally({ '/s/a': 2 }), 60n * SECOND))).toEqual([]);
});

test('without a log kills do not wait', () => {
  expect(overdue(look(openLedger(tally({})), tally({ '/s/a': 1 }), 5n), 5n, 0n).kills).toHaveLength(1);
});

test('kills that only the total counts have an unknown place', () => {
  const ledger = openLedger(tally({ '/s/a': 1 }, 10));
  expect(open(look(ledger, tally({ '/s/a': 2 }, 13)))).toEqual(['/s/a 1', '? 2']);
  expect(open(look(killLogged(ledger, '/gone/b'), tally({ '/s/a': 2 }, 13)))).toEqual(['/s/a 1', '? 1']);
  expect(open(look(ledger, tally({ '/s/a': 2 })))).toEqual(['/s/a 1']); // no total to be read
});

test('a total that was read before the rest does not cause a kill of its own', () => {
  const ledger = look(openLedger(tally({}, 10)), tally({ '/s/a': 1 }, 10)); // it came between the two
  const after = look(ledger, tally({ '/s/a': 1 }, 11));
  expect(open(after)).toEqual(['/s/a 1']);
  expect(open(look(after, tally({ '/s/a': 1 }, 12)))).toEqual(['/s/a 1', '? 1']);
});

test.each<[rule: string, counters: Record<string, number>, processes: number, found: number, place: string | undefined, open: string[]]>([
  ['only one cgroup is possible', { '/s/a': 3 }, 2, 2, '/s/a', ['/s/a 1']],
  ['all kills of a cgroup', { '/s/a': 2 }, 2, 2, '/s/a', []],
  ['more processes than were counted', { '/s/a': 1 }, 3, 1, '/s/a', []],
  ['several places: it is not known which', { '/s/a': 1, '/s/b': 1 }, 2, 2, undefined, []],
  ['several, and more to come', { '/s/a': 1, '/s/b': 1 }, 1, 1, undefined, ['/s/b 1']],
  ['none', {}, 1, 0, undefined, []],
])('processes whose cgroup the log does not name: %s', (_rule, counters, processes, found, place, left) => {
  const claim = claimUnplaced(look(openLedger(tally({})), tally(counters)), processes);
  expect([claim.found, claim.place.cgroup]).toEqual([found, place]);
  expect(open(claim.ledger)).toEqual(left);
});
