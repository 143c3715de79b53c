import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { readingBefore, remember, type ScopeHistory } from '../../../src/core/policy/scope-history.js';
import { historyOf, reading, SECOND_NS } from './scopes.js';

const MS_NS = 1_000_000n;

function after(intervalsMs: readonly number[], windowNs: bigint): { readonly history: ScopeHistory; readonly times: readonly bigint[] } {
  let timeNs = 0n;
  const times = [0, ...intervalsMs].map((interval) => (timeNs += BigInt(interval) * MS_NS));
  const history = times.reduce<ScopeHistory | undefined>(
    (before, time) => remember(before, { ...reading(0, {}), timeNs: time }, windowNs),
    undefined,
  );
  if (history === undefined) throw new Error('no reading');
  return { history, times };
}

describe('the history of a scope', () => {
  const intervals = fc.array(fc.constantFrom(100, 250, 1_000, 10_000), { minLength: 1, maxLength: 400 });
  const windows = fc.constantFrom(2n, 10n, 60n, 600n).map((seconds) => seconds * SECOND_NS);

  test('thinning extends a window by at most an eighth of its length', () => {
    fc.assert(
      fc.property(intervals, windows, fc.integer({ min: 1, max: 100 }), (steps, windowNs, percent) => {
        const { history, times } = after(steps, windowNs);
        const nowNs = times.at(-1) ?? 0n;
        const ageNs = (windowNs * BigInt(percent)) / 100n;
        const exact = times.findLast((time) => time <= nowNs - ageNs);
        const found = readingBefore(history, ageNs)?.timeNs;
        if (exact === undefined) expect(found).toBeUndefined();
        else {
          expect(found).toBeDefined();
          const age = nowNs - (found ?? 0n);
          expect(age >= ageNs && age <= ((nowNs - exact) * 8n) / 7n).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each<[windowSeconds: bigint, most: number]>([
    [0n, 1],
    [2n, 22],
    [60n, 70],
    [3600n, 140],
  ])('readings every 100 ms for %d s are thinned to at most %d', (windowSeconds, most) => {
    const { history } = after(new Array<number>(40_000).fill(100), windowSeconds * SECOND_NS);
    expect(history.readings.length).toBeLessThanOrEqual(most);
  });

  test('the newest reading is the last one', () => {
    const { history, times } = after([100, 100, 100], SECOND_NS);
    expect(history.readings.map(({ timeNs }) => timeNs)).toEqual(times);
  });

  test('a cgroup that was made again has a new history', () => {
    const before = historyOf({ 0: {}, 1: {} }, 10n * SECOND_NS, 'cgroup');
    const other = { ...reading(2, {}), id: 7n };
    expect(remember(before, other, 10n * SECOND_NS).readings).toEqual([other]);
  });

  test('a reading that is not newer is ignored', () => {
    const before = historyOf({ 0: {}, 1: {} }, 10n * SECOND_NS, 'cgroup');
    expect(remember(before, reading(1, { age: 5 }), 10n * SECOND_NS)).toBe(before);
  });
});
