import { expect, test } from 'vitest';
import { growersIn, growthAtMost, growthSince, isEvictable } from '../../../src/core/budget/growth.js';
import { evictionBase, pausedBase, type GrowthBase } from '../../../src/core/budget/growth-base.js';
import { rank, type RankedWorkload } from '../../../src/core/rank/rank.js';
import type { WorkloadProcess } from '../../../src/core/workload/process.js';
import type { WorkloadStats } from '../../../src/core/workload/workload.js';
import { Mi, policy, stats, workload } from '../support.js';
import { fc } from '../../support/property.js';

type Known = Partial<WorkloadStats>;

function ranked(known: Readonly<Record<string, Known>>): readonly RankedWorkload[] {
  const usages = Object.entries(known).map(([name, one]) => ({ workload: workload(name), stats: stats({ usageBytes: 0n, ...one }) }));
  return rank('memory.available', 'single', usages, policy([]).departures);
}

const base = (known: Readonly<Record<string, Known>>, available = 900n): GrowthBase =>
  pausedBase('memory.available', ranked(known), { available: available * Mi, atNs: 0n, since: { kind: 'no-yield', relief: 0n } });

const uses = (mebibytes: bigint, more: Known = {}): Known => ({ workingSetBytes: mebibytes * Mi, ...more });

test.each<[rule: string, reliefMib: bigint, availableMib: bigint, mebibytes: bigint]>([
  ['a twentieth of what has to be available', 1000n, 900n, 50n],
  ['a quarter of what was available, where less is left to grow', 10_000n, 400n, 100n],
  ['no noise is assumed for a small threshold', 40n, 900n, 4n],
  ['no noise is assumed where nothing is available', 1000n, 0n, 4n],
])('the least growth that explains a shortage is %s', (_rule, relief, available, mebibytes) => {
  const before = base({ a: uses(10n) }, available);
  const growers = (bytes: bigint): number =>
    growersIn(before, growthSince(before, 'memory.available', ranked({ a: { workingSetBytes: bytes } }), available * Mi), relief * Mi).size;
  expect(growers((10n + mebibytes) * Mi)).toBe(1);
  expect(growers((10n + mebibytes) * Mi - 1n)).toBe(0);
});

test.each<[rule: string, before: Known, now: Known, grown: bigint, curable: bigint]>([
  ['memory and swap together: on zram a leak grows in swap', uses(50n), uses(40n, { swapBytes: 60n * Mi }), 50n, 50n],
  ['memory that was swapped out before', uses(50n, { swapBytes: 60n * Mi }), uses(110n), 0n, 0n],
  ['files on a tmpfs stay after an eviction', uses(50n), uses(90n, { staysBytes: 30n * Mi }), 40n, 10n],
  ['a workload whose use was not known before', {}, uses(20n), 0n, 0n],
  ['an upper bound before is not a measured value …', uses(80n, { workingSetAtMost: true }), uses(100n), 0n, 0n],
  ['an upper bound now is not a measured value', uses(20n), uses(80n, { workingSetAtMost: true }), 0n, 0n],
])('growth of a workload: %s', (_rule, before, now, grown, curable) => {
  const { workloads } = growthSince(base({ a: before }), 'memory.available', ranked({ a: now }), 0n);
  expect(workloads.map((one) => [one.grown / Mi, one.curable / Mi])).toEqual(grown === 0n ? [] : [[grown, curable]]);
});

test('the whole usage of a workload that did not exist before is growth', () => {
  const { workloads } = growthSince(base({}), 'memory.available', ranked({ a: uses(20n) }), 0n);
  expect(workloads).toMatchObject([{ grown: 20n * Mi }]);
});

test('growth in swap counts on both sides: a protected workload that grows there more is no reason to evict another one', () => {
  const before = base({ a: uses(10n), db: uses(10n) });
  const now = ranked({ a: uses(60n), db: uses(10n, { swapBytes: 100n * Mi }) }).map((item) =>
    item.workload.name === 'db' ? { ...item, protection: { kind: 'critical' } as const } : item,
  );
  const growth = growthSince(before, 'memory.available', now, 850n * Mi);
  expect(growersIn(before, growth, 100n * Mi).size).toBe(0);
  expect(growth.workloads.map(({ item }) => item.workload.name)).toEqual(['db', 'a']);
});

const KNOWN = fc.record({
  workingSetMib: fc.bigInt(0n, 40n),
  staysMib: fc.bigInt(0n, 10n),
  cacheMib: fc.bigInt(0n, 20n),
  isBound: fc.boolean(),
});
const WORKLOADS = fc.array(fc.record({ before: KNOWN, now: KNOWN }), { minLength: 1, maxLength: 6 });

test('growth that upper bounds show to be curable is also curable by measured values', () => {
  let shown = 0;
  fc.assert(
    fc.property(WORKLOADS, fc.bigInt(0n, 60n), (workloads, lost) => {
      const known = (of: 'before' | 'now', isMeasured: boolean) =>
        Object.fromEntries(
          workloads.map(({ [of]: { workingSetMib, staysMib, cacheMib, isBound } }, at) => [
            `w${String(at)}`,
            isBound && !isMeasured
              ? uses(workingSetMib + cacheMib, { workingSetAtMost: true })
              : uses(workingSetMib, { staysBytes: (staysMib < workingSetMib ? staysMib : workingSetMib) * Mi }),
          ]),
        );
      const from = base(known('before', true), 100n);
      const available = (100n - lost) * Mi;
      const isShown = isEvictable(growthAtMost(from, 'memory.available', ranked(known('now', false)), available));
      shown += isShown && workloads.some(({ now }) => now.isBound) ? 1 : 0;
      return !isShown || isEvictable(growthSince(from, 'memory.available', ranked(known('now', true)), available));
    }),
  );
  expect(shown).toBeGreaterThan(0);
});

test('a workload that was started again has grown by what it uses more than before', () => {
  const before = base({ a: uses(100n) });
  const again = ranked({ a: uses(120n) }).map((item) => ({ ...item, workload: { ...item.workload, id: 'another' } }));
  expect(growthSince(before, 'memory.available', again, 880n * Mi).workloads).toMatchObject([{ grown: 20n * Mi }]);
});

test('where one process ends, the rest of its workload has not grown by what it uses', () => {
  const ranking = ranked({ a: uses(300n), b: uses(200n) });
  const [found] = ranking;
  if (found === undefined) throw new Error('no workload was ranked');
  const observation = { available: 90n * Mi, capacity: 1024n * Mi, timeNs: undefined, source: 'test' };
  const cause = { kind: 'policy', policy: 'p', scope: '', condition: '', values: {}, graceNs: 0n, memory: observation } as const;
  const rest = { serial: 1, resource: 'memory', cause, ranking, unreadable: [], graceNs: 0n, decidedAtNs: 0n, dryRun: false } as const;
  const held = (process?: Partial<WorkloadProcess>) => {
    const victim = { ...found, ...(process && { process: { path: '/a/a', ...process } as WorkloadProcess }) };
    return [...(evictionBase({ ...rest, victim }, new Map(), undefined)?.base.held.values() ?? [])].map(({ amount = 0n }) => amount / Mi);
  };
  expect(held()).toEqual([200n]);
  expect(held({ anonBytes: 90n * Mi, swapBytes: 0n }).toSorted()).toEqual([200n, 210n]);
  expect(held({ anonBytes: 1n, swapBytes: 0n, group: { path: '/a/a', id: 1n, anonBytes: 250n * Mi } }).toSorted()).toEqual([200n, 50n]);
});
