import { fc } from '../../support/property.js';
import { expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { Policy } from '../../../src/core/decide/state.js';
import type { Candidates, WorkloadUsage } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, stats, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

/**
 * Departure node-yield. 112 MiB on a tmpfs have outlived their workload, and nothing grows: 121 of 200 MiB are available.
 * One eviction that frees the whole shortfall of 79 MiB ends the shortage. More than one, or a smaller one, does not.
 */
const hard = threshold('memory.available', '200Mi');
const MISSING = 79n;

type Sizes = Readonly<Record<string, bigint>>;

function found(sizes: Sizes): Candidates {
  return candidates(
    ...Object.entries(sizes).map(([name, mebibytes]): [ReturnType<typeof workload>, bigint] => {
      const protection = name === 'db' ? ({ kind: 'critical' } as const) : undefined;
      return [workload(name, { priority: name === 'important' ? 1 : 0, protection }), mebibytes * Mi];
    }),
  );
}

/** The holder was evicted, and evictions wait since second 1.7. */
function waiting(sizes: Sizes, overrides: Partial<Policy> = {}): Timeline {
  const known = stats({ usageBytes: 133n * Mi, workingSetBytes: 133n * Mi, staysBytes: 112n * Mi });
  const holder: WorkloadUsage = { workload: workload('holder', { priority: -1 }), stats: known };
  const others = found(sizes);
  const timeline = new Timeline(policy([hard], overrides), { ...others, usages: [holder, ...others.usages] });
  timeline.memory(0, 100n);
  timeline.candidates = others;
  const gone = { 1: { processes: 0, usageBytes: 112n * Mi } };
  timeline.memory(0.1, 121n, gone);
  expect(timeline.memory(1.7, 121n, gone)).toContain('alert no-yield');
  return timeline;
}

const victims = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision.victim.workload.name] : []));
const at = (timeline: Timeline, seconds: number, mebibytes: bigint, sizes?: Sizes): string[] => {
  if (sizes) timeline.candidates = found(sizes);
  return victims(timeline.at(seconds, { 'memory.available': mebibytes * Mi }));
};

test.each<[rule: string, sizes: Sizes, victim: string[]]>([
  ['a workload that frees all of the missing memory is evicted', { small: 30n, large: MISSING }, ['large']],
  ['a workload that frees less is not evicted', { small: 30n, large: MISSING - 1n }, []],
  ['several workloads that would free enough only together are not evicted', { a: 50n, b: 50n }, []],
  ['the first of them by rank', { important: 150n, a: 80n, b: 90n }, ['b']],
  ['a protected workload is never evicted', { db: 150n }, []],
])('nothing grows: %s', (_rule, sizes, victim) => {
  expect(at(waiting(sizes), 4.7, 121n)).toEqual(victim);
});

test('min reclaim that is owed counts as missing', () => {
  const owing = threshold('memory.available', '200Mi', { minReclaim: '10Mi' });
  expect(at(waiting({ a: 88n }, { thresholds: [owing] }), 4.7, 121n)).toEqual([]);
  expect(at(waiting({ a: 89n }, { thresholds: [owing] }), 4.7, 121n)).toEqual(['a']);
});

test('memory that stays after the end of a workload does not count as freed', () => {
  const timeline = waiting({ a: 100n });
  const usages = timeline.candidates.usages.map((usage) => ({ ...usage, stats: usage.stats && { ...usage.stats, staysBytes: 30n * Mi } }));
  timeline.candidates = { ...timeline.candidates, usages };
  expect(at(timeline, 4.7, 121n)).toEqual([]);
});

test('no workload is evicted before three seconds without growth', () => {
  const timeline = waiting({ a: 100n });
  expect(at(timeline, 4.699, 121n)).toEqual([]);
  expect(at(timeline, 4.7, 121n)).toEqual(['a']);
});

test.each<[rule: string, available: bigint, sizes: Sizes]>([
  ['a protected workload grows', 121n, { a: 100n, db: 20n }],
  ['the node has lost memory, whatever took it', 111n, { a: 100n, db: 10n }],
])('no workload is evicted while other programs allocate memory: %s', (_rule, available, sizes) => {
  const timeline = waiting({ a: 100n, db: 10n });
  expect(at(timeline, 10, available, sizes)).toEqual([]);
});

test('a pause has at most one such eviction, and a new pause may have another', () => {
  const timeline = waiting({ a: 80n, b: 80n, c: 80n });
  expect(at(timeline, 5, 121n)).toEqual(['a']);
  timeline.candidates = found({ b: 80n, c: 80n });
  const little = { 2: { processes: 0, usageBytes: 70n * Mi } };
  timeline.memory(5.1, 122n, little);
  expect(timeline.memory(7, 122n, little)).toContain('ineffective a 10Mi');
  expect([8, 12, 20, 60].flatMap((second) => at(timeline, second, 122n))).toEqual([]);
  expect(at(timeline, 61, 199n)).toEqual([]);
  expect(at(timeline, 71, 199n)).toEqual(['b']); // 10 s of relief: the pause is over
  timeline.candidates = found({ c: 200n });
  const nothing = { 3: { processes: 0, usageBytes: 80n * Mi } };
  timeline.memory(71.1, 121n, nothing);
  expect(timeline.memory(73, 121n, nothing)).toContain('ineffective b 0Mi');
  expect(at(timeline, 80, 121n)).toEqual(['c']);
});

const sizesOf = fc.record({ a: fc.bigInt(1n, 150n), b: fc.bigInt(1n, 150n), db: fc.bigInt(1n, 150n) });
const looks = fc.array(fc.record({ after: fc.integer({ min: 1, max: 9 }), lost: fc.bigInt(-3n, 9n), db: fc.bigInt(0n, 9n) }), {
  minLength: 1,
  maxLength: 15,
});

test('a pause costs at most one workload, never a protected one, and only one that frees all that is missing', () => {
  let evictions = 0;
  fc.assert(
    fc.property(sizesOf, looks, (sizes, steps) => {
      const timeline = waiting(sizes);
      let [seconds, available, db] = [1.7, 121n, sizes.db];
      let count = 0;
      for (const { after, lost, db: grown } of steps) {
        seconds += after;
        available -= lost;
        db += grown;
        const [victim] = at(timeline, seconds, available, { ...sizes, db });
        if (victim === undefined) continue;
        count += 1;
        expect(victim).not.toBe('db');
        expect(sizes[victim as 'a' | 'b']).toBeGreaterThanOrEqual(200n - available);
        expect(121n - available).toBeLessThan(10n);
        const left = { 2: { processes: 0, usageBytes: 100n * Mi } };
        timeline.memory(seconds, available, left);
        timeline.memory(seconds + 0.9, available - 1n, left);
      }
      evictions += count;
      expect(count).toBeLessThanOrEqual(1);
    }),
  );
  expect(evictions).toBeGreaterThan(0);
});
