import { fc } from '../../support/property.js';
import { expect, test } from 'vitest';
import { initialState } from '../../../src/core/decide/state.js';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { judgedRanking, selectVictim } from '../../../src/core/rank/victim-selection.js';
import type { Victim } from '../../../src/core/rank/eviction-decision.js';
import type { Candidates, WorkloadUsage } from '../../../src/core/workload/workload.js';
import { listed } from '../listed.js';
import { Mi, observations, policy, requesting, stats, threshold, workload } from '../support.js';

const limit = threshold('memory.available', '100Mi');
const observation = observations(0n, { 'memory.available': 50n * Mi }).observed.get('memory.available');

/** Few values, so that many are equal. */
const drawn = fc.record({
  workingSet: fc.bigInt(0n, 6n),
  inactive: fc.bigInt(0n, 6n),
  stays: fc.bigInt(0n, 3n),
  request: fc.bigInt(0n, 4n),
  priority: fc.integer({ min: 0, max: 1 }),
  isProtected: fc.boolean(),
  isVetoed: fc.boolean(),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

const PLAIN: Drawn = { workingSet: 0n, inactive: 0n, stays: 0n, request: 0n, priority: 0, isProtected: false, isVetoed: false };

function usagesOf(all: readonly Drawn[], isBound: boolean): WorkloadUsage[] {
  return all.map(({ workingSet, inactive, stays, request, priority, isProtected }, index) => ({
    workload: workload(`w${String(index)}`, {
      priority,
      startOrder: BigInt(index),
      requests: requesting(request),
      ...(isProtected && { protection: { kind: 'critical' } as const }),
    }),
    stats: stats({
      usageBytes: workingSet + inactive,
      workingSetBytes: isBound ? workingSet + inactive : workingSet,
      ...(isBound ? { workingSetAtMost: true } : { staysBytes: stays < workingSet ? stays : workingSet }),
    }),
  }));
}

function selected(usages: readonly WorkloadUsage[], more: Partial<Candidates>, all: readonly Drawn[], by = limit): Victim | undefined {
  if (observation === undefined) throw new Error('no observation');
  const veto: Candidates['veto'] = ({ startOrder }) => (all[Number(startOrder)]?.isVetoed ? { kind: 'vacant' } : undefined);
  const found = { usages, unreadable: [], timeNs: 0n, veto, ...more };
  const shortfall = { threshold: by, observation, limit: 100n * Mi };
  const victim = selectVictim(policy([by], { departures: departuresOf('evictd') }), 'single', shortfall, () => found, initialState, 0n);
  return typeof victim === 'object' ? victim : undefined;
}

const upTo = ({ ranking, victim }: Pick<Victim, 'ranking' | 'victim'>): unknown[] =>
  ranking.slice(0, victim.place).map(({ place, workload: { name }, usage, protection }) => [place, name, usage, protection?.kind]);

test('ranking by upper bounds, with measurements where needed, selects the same victim as measuring all workloads', () => {
  fc.assert(
    fc.property(fc.array(drawn, { minLength: 1, maxLength: 20 }), (all) => {
      const exact = usagesOf(all, false);
      const measured = new Set<number>();
      const measure: Candidates['measure'] = ({ startOrder }) => {
        measured.add(Number(startOrder));
        return exact[Number(startOrder)]?.stats;
      };
      const byAll = selected(exact, {}, all);
      const byBounds = selected(usagesOf(all, true), { measure }, all);
      expect(byBounds?.victim.workload.name).toBe(byAll?.victim.workload.name);
      if (byAll === undefined || byBounds === undefined) return;
      expect(byBounds.victim).toEqual(byAll.victim);
      expect(upTo(byBounds)).toEqual(upTo(byAll));
      expect(byBounds.ranking.map(({ place }) => place)).toEqual(byBounds.ranking.map((_, index) => index + 1));
    }),
  );
});

test('only workloads that may rank before the victim are measured', () => {
  const all = Array.from({ length: 10 }, (_, index): Drawn => {
    return { ...PLAIN, workingSet: BigInt(index), inactive: index === 9 ? 0n : 3n };
  });
  const exact = usagesOf(all, false);
  const measured: string[] = [];
  const measure: Candidates['measure'] = ({ name, startOrder }) => {
    measured.push(name);
    return exact[Number(startOrder)]?.stats;
  };
  expect(selected(usagesOf(all, true), { measure }, all)?.victim.workload.name).toBe('w9');
  expect(measured).toEqual(['w8', 'w7', 'w9']); // bounds 11, 10, 9; w6 has 9 too, and is older
});

test('a workload that cannot be measured counts with its upper bound', () => {
  const all = [1n, 2n].map((workingSet) => ({ ...PLAIN, workingSet }));
  const found = selected(usagesOf(all, true), { measure: () => undefined }, all);
  expect(found?.victim).toMatchObject({ workload: { name: 'w1' }, usage: 2n });
});

test('where swap counts all workloads are measured, because the usage of cgroup v1 has no swap and is not an upper bound', () => {
  const all = [5n, 1n].map((workingSet) => ({ ...PLAIN, workingSet }));
  const usages = usagesOf(all, true);
  const measure: Candidates['measure'] = ({ startOrder }) => {
    const index = Number(startOrder);
    const { workingSet = 0n } = all[index] ?? {};
    const measured = stats({ usageBytes: workingSet, workingSetBytes: workingSet, swapBytes: index === 1 ? 9n : 0n });
    usages[index] = { workload: usages[index]?.workload ?? workload('none'), stats: measured };
    return measured;
  };
  const thrashing = listed('memory.available<200Mi & memory.pressure.full>40%', 'soft');
  expect(selected(usages, { measure }, all, thrashing as typeof limit)?.victim.workload.name).toBe('w1');
});

test('the printed ranking has the victim of the step, the same workloads before it, and a reason for each listed workload', () => {
  fc.assert(
    fc.property(fc.array(drawn, { minLength: 1, maxLength: 20 }), fc.boolean(), (all, isBound) => {
      if (observation === undefined) throw new Error('no observation');
      const exact = usagesOf(all, false);
      const measure: Candidates['measure'] = ({ startOrder }) => exact[Number(startOrder)]?.stats;
      const veto: Candidates['veto'] = ({ startOrder }) => (all[Number(startOrder)]?.isVetoed ? { kind: 'vacant' } : undefined);
      const found = { usages: usagesOf(all, isBound), unreadable: [], timeNs: 0n, veto, ...(isBound && { measure }) };
      const shortfall = { threshold: limit, observation, limit: 100n * Mi };
      const most = all.length;
      const ranking = judgedRanking(policy([limit]), 'single', 'memory.available', shortfall, found, initialState, 0n, most);
      const first = ranking.find(({ protection }) => protection === undefined);
      const chosen = selected(exact, {}, all);
      expect(first?.workload.name).toBe(chosen?.victim.workload.name);
      if (first && chosen) expect(upTo({ ranking, victim: first })).toEqual(upTo(chosen));
      const evictable = all.filter(({ isProtected, isVetoed }) => !isProtected && !isVetoed);
      expect(ranking.filter(({ protection }) => protection === undefined)).toHaveLength(evictable.length);
    }),
  );
});

test('the printed ranking reads no more workloads than it lists', () => {
  const all = Array.from({ length: 10 }, (_, index): Drawn => ({ ...PLAIN, workingSet: BigInt(index) }));
  const exact = usagesOf(all, false);
  const read: string[] = [];
  const measure: Candidates['measure'] = ({ name, startOrder }) => {
    read.push(name);
    return exact[Number(startOrder)]?.stats;
  };
  const found = { usages: usagesOf(all, true), unreadable: [], timeNs: 0n, measure };
  judgedRanking(policy([limit]), 'single', 'memory.available', undefined, found, initialState, 0n, 2);
  expect(read).toEqual(['w9', 'w8']);
});

test('the printed ranking names a workload outside the cgroup that is short', () => {
  const found = { usages: usagesOf([PLAIN], false), unreadable: [], timeNs: 0n };
  const allocatable = policy([], { allocatableCgroup: '/pods' });
  const [item] = judgedRanking(allocatable, 'single', 'allocatableMemory.available', undefined, found, initialState, 0n, 1);
  expect(item?.protection).toEqual({ kind: 'outside', cgroup: '/pods' });
});
