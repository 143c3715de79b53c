import { expect, test } from 'vitest';
import { suffices } from '../../../src/core/systemd/inhibit-delay.js';
import {
  groupByPriority,
  shutdownGroupIndexes,
  workloadsStoppedWith,
  latestTimeline,
} from '../../../src/features/shutdown/shutdown-plan.js';
import type { UnitStop } from '../../../src/core/systemd/unit-stop.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { candidates, SECOND, workload } from '../../core/support.js';

const CRITICAL = { protection: { kind: 'critical' } } as const;
const PERIODS = [
  { priority: 0, gracePeriodNs: 20n * SECOND },
  { priority: 2_000_000_000, gracePeriodNs: 10n * SECOND },
  { priority: 2_000_001_000, gracePeriodNs: 5n * SECOND },
];

// What pods do is in test/vectors/shutdown.jsonl.
test.each<[rule: string, overrides: Partial<Workload>, group: number]>([
  ['without a rule has the group of priority 0', {}, 0],
  ['critical, whatever its priority', { ...CRITICAL, priority: -5 }, 2_000_000_000],
  ['critical, and above that', { ...CRITICAL, priority: 2_000_001_000 }, 2_000_001_000],
  ['that asks never to be evicted has a group, too', { protection: { kind: 'omit' } }, 0],
])('a machine workload %s', (_rule, overrides, group) => {
  const groups = groupByPriority(PERIODS, [workload('w', overrides)]);
  expect(groups.filter(({ workloads }) => workloads.length > 0).map(({ priority }) => priority)).toEqual([group]);
});

test.each<[rule: string, inner: Partial<Workload>, outer: Partial<Workload>, group: number]>([
  ['of a higher priority', { priority: 2_000_000_000 }, {}, 2_000_000_000],
  ['of a lower priority', {}, { priority: 2_000_000_000 }, 2_000_000_000],
  ['that is more critical', { ...CRITICAL, priority: 2_000_001_000 }, CRITICAL, 2_000_001_000],
])('a parent of a child %s ends with the later of both groups', (_rule, inner, outer, group) => {
  const [w, x] = [workload('w', { ...outer, path: '/w' }), workload('x', { ...inner, path: '/w/a/x' })];
  const turns = (all: readonly Workload[], before?: ReadonlyMap<string, number>) =>
    PERIODS[shutdownGroupIndexes(PERIODS, all, before).get(w.id) ?? -1]?.priority;
  expect(turns([w, x])).toBe(group);
  expect(turns([w], shutdownGroupIndexes(PERIODS, [w, x]))).toBe(group);
  expect(turns([w, { ...x, path: '/wx' }])).toBe(turns([w]));
});

test.each<[rule: string, stop: Partial<UnitStop>, ends: readonly (number | undefined)[]]>([
  ['is stopped with it', { kind: 'stop', dependants: ['web.service', 'log.service'] }, [2_000_000_000, 2_000_000_000]],
  ['ends with it, though it is only signalled', { kind: 'signal', affected: ['web.service'] }, [2_000_000_000, 2_000_000_000]],
  ['does not, because it is only signalled', { kind: 'signal', affected: [] }, [0, 2_000_000_000]],
])('a unit ends with the last of the units that need it: a unit that %s', (_rule, stop, ends) => {
  const unit = (name: string, priority: number): Workload =>
    workload(name, { priority, unit: { name: `${name}.service`, manager: 'system' } });
  const all = [unit('db', 0), unit('web', 2_000_000_000)];
  const found = candidates(...all.map((one): [Workload, bigint] => [one, 0n]));
  const along = workloadsStoppedWith({ ...found, stop: ({ name }) => (name === 'db' ? (stop as UnitStop) : undefined) }, { sinceNs: 0n });
  const turns = shutdownGroupIndexes(PERIODS, all, undefined, along);
  expect(all.map(({ id }) => PERIODS[turns.get(id) ?? -1]?.priority)).toEqual(ends);
});

test('a unit ends with the last of the units that one that needs it holds back', () => {
  const [db, web, job] = [
    workload('db'),
    workload('web', { path: '/web' }),
    workload('job', { path: '/web/job', priority: 2_000_000_000 }),
  ];
  const turns = shutdownGroupIndexes(PERIODS, [db, web, job], undefined, new Map([[db.id, [web]]]));
  expect([db, web, job].map(({ id }) => turns.get(id))).toEqual([1, 1, 1]);
});

test('in the latest timeline a parent gets SIGTERM after its children', () => {
  const [w, x, y] = [
    workload('w', { path: '/w', terminationGracePeriodNs: 3n * SECOND }),
    workload('x', { path: '/w/x', terminationGracePeriodNs: 4n * SECOND }),
    workload('y', { path: '/y', terminationGracePeriodNs: 5n * SECOND }),
  ];
  const endsAt = (...all: Workload[]) => latestTimeline(groupByPriority(PERIODS, all))[0]?.endsAtNs;
  expect([endsAt(w, x, y), endsAt(x, y), endsAt(w, { ...x, terminationGracePeriodNs: undefined })]).toEqual([
    7n * SECOND,
    5n * SECOND,
    20n * SECOND,
  ]);
});

test.each<[rule: string, seconds: bigint, enough: boolean]>([
  ['as long as the groups need, and two seconds for evictd itself', 32n, true],
  ['shorter', 31n, false],
])('the time that a shutdown waits: %s', (_rule, seconds, enough) => {
  expect(suffices({ kind: 'known', maxNs: seconds * SECOND }, 30n * SECOND)).toBe(enough);
  expect(suffices({ kind: 'unknown', reason: 'x' }, 30n * SECOND)).toBeUndefined();
});
