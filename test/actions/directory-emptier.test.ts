import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { OwnDirectoryEmptier, type EmptierParts } from '../../src/actions/directory-emptier.js';
import type { Decision } from '../../src/core/eviction.js';
import type { LoadedUnit } from '../../src/core/loaded-unit.js';
import type { EmptyingOrder, EmptyingResult } from '../../src/native/binding.js';
import { eventually } from '../support/eventually.js';
import { workload } from '../core/support.js';

const DONE: EmptyingResult = { end: 'done', errno: 0, bytes: 1, inodes: 1, failed: 0, failures: [] };
const holds = { bytes: 1n, inodes: 1n };
const NAME = 'a.service';

/** Of a unit, which is `held` where it would restart. */
function decisionOf(serial: number, of: 'cgroup' | 'unit' | 'held'): Decision {
  const empties = [1n, 2n].map((inode) => ({ path: `/srv/${String(inode)}`, device: 7n, inode, holds }));
  const unit = of === 'cgroup' ? {} : { unit: { name: NAME, manager: 'system' as const } };
  const holding = { uses: holds, frees: holds, atNs: 0n, empties };
  return {
    serial,
    victim: { workload: workload('a', unit), holding },
    ...(of === 'held' && { unit: { evictions: 1, stop: undefined, hold: { unit: NAME } } }),
  } as unknown as Decision;
}
const unitIn = (activeState: string, stale = false): LoadedUnit => ({ activeState, stale }) as LoadedUnit;

let loaded: LoadedUnit | undefined;
let orders: EmptyingOrder[];
let finish: ((result: EmptyingResult) => void)[];
let closed: number;
let told: string[];
let objections: Record<string, string>;
let reached: boolean;
let awaited: boolean;
let broken: string | undefined;
let emptier: OwnDirectoryEmptier;

beforeEach(() => {
  [loaded, reached, awaited, broken] = [undefined, true, false, undefined];
  [orders, finish, told, closed, objections] = [[], [], [], 0, {}];
  class DirectoryEmptying {
    constructor(order: EmptyingOrder, onDone: (result: EmptyingResult) => void) {
      orders.push(order);
      finish.push(onDone);
    }
    close(): void {
      closed++;
    }
  }
  const parts: EmptierParts = {
    native: { DirectoryEmptying },
    units: { reach: () => reached, unit: () => loaded, awaited: () => awaited },
    cgroupsOf: ({ path }) => [`/cgroups${path}`],
    objection: ({ path }) => objections[path],
    onEmptying: (_, { path }, emptied) => {
      if (path === broken) throw new Error('the journal is broken');
      told.push(`${path} ${typeof emptied === 'object' ? emptied.end : (emptied ?? 'begins')}`);
    },
    onError: (_, error) => told.push(String(error)),
  };
  emptier = new OwnDirectoryEmptier(parts);
});

test('one directory after the other, each told of twice; then it is over', async () => {
  const decision = decisionOf(1, 'cgroup');
  expect(emptier.empty(decision, undefined)).toBe(true);
  expect(orders).toMatchObject([{ path: '/srv/1', device: 7n, inode: 1n, cgroups: ['/cgroups/a'] }]);
  finish[0]?.(DONE);
  await eventually('the next one is begun', () => orders.length === 2);
  expect(emptier.empty(decision, undefined)).toBe(true);
  finish[1]?.({ ...DONE, end: 'populated' });
  await eventually('it is over', () => !emptier.empty(decision, undefined));
  expect(told).toEqual(['/srv/1 begins', '/srv/1 done', '/srv/2 begins', '/srv/2 populated']);
  expect(orders).toHaveLength(2);
});

test('what is not to be emptied any more is not, and said', async () => {
  objections = { '/srv/1': 'no rule says so', '/srv/2': 'it is shared' };
  const decision = decisionOf(1, 'cgroup');
  emptier.empty(decision, undefined);
  await eventually('it is over', () => !emptier.empty(decision, undefined));
  expect([orders, told]).toEqual([[], ['/srv/1 no rule says so', '/srv/2 it is shared']]);
});

test('what is against it by now ends it in the middle; the others go on', async () => {
  const decision = decisionOf(1, 'cgroup');
  emptier.empty(decision, undefined);
  objections = { '/srv/1': 'it is of b, too' };
  expect(emptier.empty(decision, undefined)).toBe(true);
  expect(closed).toBe(1);
  await eventually('the next one is begun', () => orders.length === 2);
  expect(emptier.empty(decision, undefined)).toBe(true);
  expect(closed).toBe(1);
  finish[1]?.(DONE);
  await eventually('it is over', () => !emptier.empty(decision, undefined));
  expect(told).toEqual(['/srv/1 begins', '/srv/1 it is of b, too; it was stopped in the middle', '/srv/2 begins', '/srv/2 done']);
});

test('where it goes wrong it is over, and said', async () => {
  broken = '/srv/1';
  const decision = decisionOf(1, 'cgroup');
  emptier.empty(decision, undefined);
  await eventually('it is over', () => !emptier.empty(decision, undefined));
  expect([orders, told]).toEqual([[], ['Error: the journal is broken']]);
});

test('evictd ends: what goes on is given up, nothing else is begun, and nothing is said that is not known', async () => {
  emptier.empty(decisionOf(1, 'cgroup'), undefined);
  emptier.close();
  expect(closed).toBe(1);
  finish[0]?.(DONE);
  await new Promise((resolve) => setImmediate(resolve));
  expect([orders.length, told]).toEqual([1, ['/srv/1 begins']]);
});

describe('a unit', () => {
  const answer = { units: [NAME], errors: [] };
  test.each<[rule: string, of: 'unit' | 'held', state: LoadedUnit | undefined, answered: boolean, begins: boolean]>([
    ['that runs', 'unit', unitIn('active'), false, false],
    ['that is being stopped', 'held', unitIn('deactivating'), true, false],
    ['that waits for its restart', 'held', unitIn('activating'), true, false],
    ['of which something has changed', 'held', unitIn('inactive', true), true, false],
    ['that has failed, and does not restart', 'unit', unitIn('failed'), false, true],
    ['that systemd has stopped', 'held', unitIn('inactive'), true, true],
    ['that would restart, and systemd has not answered', 'held', unitIn('failed'), false, false],
    ['that systemd has forgotten', 'unit', undefined, false, true],
  ])('%s', (_rule, of, state, answered, begins) => {
    loaded = state;
    expect(emptier.empty(decisionOf(1, of), answered ? answer : undefined)).toBe(true);
    expect(orders.length > 0).toBe(begins);
  });

  test.each<[rule: string, state: LoadedUnit | undefined, reaches: boolean, awaits: boolean]>([
    ['of which systemd has not answered', undefined, true, true],
    ['that nothing is known of, and systemd cannot be asked', undefined, false, false],
    ['that had stopped when systemd could be asked last', unitIn('inactive'), false, false],
  ])('is left alone %s', (_rule, state, reaches, awaits) => {
    [loaded, reached, awaited] = [state, reaches, awaits];
    expect(emptier.empty(decisionOf(1, 'unit'), undefined)).toBe(true);
    expect(orders).toEqual([]);
  });

  test('that systemd does not say has stopped is waited for half a minute, and its directories stay', async () => {
    const now = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(0n);
    onTestFinished(() => {
      now.mockRestore();
    });
    loaded = unitIn('active');
    emptier.empty(decisionOf(1, 'unit'), undefined);
    now.mockReturnValue(29_999_999_999n);
    expect(emptier.empty(decisionOf(1, 'unit'), undefined)).toBe(true);
    expect(told).toEqual([]);
    now.mockReturnValue(30_000_000_000n);
    emptier.empty(decisionOf(1, 'unit'), undefined);
    now.mockRestore();
    await eventually('it is over', () => !emptier.empty(decisionOf(1, 'unit'), undefined));
    const why = 'systemd does not say that it stays stopped';
    expect([orders, told]).toEqual([[], [`/srv/1 ${why}`, `/srv/2 ${why}`]]);
  });

  test('is looked at again until it has stopped', () => {
    loaded = unitIn('deactivating');
    emptier.empty(decisionOf(1, 'held'), answer);
    loaded = unitIn('inactive');
    emptier.empty(decisionOf(1, 'held'), answer);
    expect(orders).toHaveLength(1);
  });
});
