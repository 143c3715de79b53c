import { describe, expect, test } from 'vitest';
import { growthOf, type Allowance } from './growth.js';

const series = (value: (at: number) => number): number[] => Array.from({ length: 400 }, (_, index) => value(index / 400));
const quarters = (...medians: [number, number, number, number]): number[] => series((at) => medians[Math.floor(at * 4)] ?? NaN);
/** Deterministic: a saw of 6 with outliers of 40. */
const noise = (at: number): number => ((at * 400 * 7) % 13) / 2 + ((at * 400) % 17 === 3 ? 40 : 0);
const RSS: Allowance = { upTo: 3, cap: 15, leak: 'steady' };
const COUNT: Allowance = { upTo: 2, leak: 'any' };

describe('growth is reported', () => {
  test.each<[rule: string, allowance: Allowance, samples: number[], leaks: boolean]>([
    ['not for a heap with collections', RSS, series(noise), false],
    ['for a steady rise within larger noise', RSS, series((at) => 60 + 6 * at + noise(at)), true],
    ['not within the allowance', RSS, series((at) => 60 + 3 * at + noise(at)), false],
    ['not for a single step', RSS, series((at) => (at < 0.4 ? 60 : 70)), false],
    ['not for a rise that stops', RSS, series((at) => 60 + 10 * Math.min(1, at * 2)), false],
    ['for a single step beyond the cap', RSS, quarters(60, 70, 70.5, 120), true],
    ['for a step beyond the cap before a lower last quarter', RSS, quarters(60, 76, 60, 60), true],
    ['not for a step as large as the cap', RSS, quarters(60, 75, 75, 75), false],
    ['not for a fall', RSS, series((at) => 60 - 20 * at), false],
    ['for descriptors that stay open after a step', COUNT, series((at) => (at < 0.4 ? 40 : 43)), true],
    ['not for descriptors that are open for a moment', COUNT, series((at) => 40 + (Math.round(at * 400) % 5 === 0 ? 9 : 0)), false],
    ['not for as many descriptors as allowed', COUNT, series((at) => (at < 0.5 ? 40 : 42)), false],
  ])('%s', (_rule, allowance, samples, leaks) => {
    expect(growthOf(samples, allowance).leaks).toBe(leaks);
  });

  test('the report has the quarters and the maximum', () => {
    expect(growthOf([1, 1, 2, 2, 3, 9, 4, 4], COUNT)).toEqual({ quarters: [1, 2, 9, 4], highest: 9, growth: 3, leaks: true });
  });
});
