import { describe, expect, test } from 'vitest';
import { growthOf, type Allowance } from './growth.js';

const series = (value: (at: number) => number): number[] => Array.from({ length: 400 }, (_, index) => value(index / 400));
const quarters = (...medians: [number, number, number, number]): number[] => series((at) => medians[Math.floor(at * 4)] ?? NaN);
/** The same for each run, and not small: a saw of 6 with outliers of 40. */
const noise = (at: number): number => ((at * 400 * 7) % 13) / 2 + ((at * 400) % 17 === 3 ? 40 : 0);
const RSS: Allowance = { upTo: 3, cap: 15, leak: 'steady' };
const COUNT: Allowance = { upTo: 2, leak: 'any' };

describe('what grows', () => {
  test.each<[rule: string, allowance: Allowance, samples: number[], leaks: boolean]>([
    ['a heap that is collected does not', RSS, series(noise), false],
    ['a steady rise is a leak, in noise that is larger', RSS, series((at) => 60 + 6 * at + noise(at)), true],
    ['within the allowance it is none', RSS, series((at) => 60 + 3 * at + noise(at)), false],
    ['a single step is none', RSS, series((at) => (at < 0.4 ? 60 : 70)), false],
    ['a rise that comes to rest is none', RSS, series((at) => 60 + 10 * Math.min(1, at * 2)), false],
    ['a single step is one beyond the cap', RSS, quarters(60, 70, 70.5, 120), true],
    ['… and so it is where the last quarter is lower again', RSS, quarters(60, 76, 60, 60), true],
    ['as much as the cap is none', RSS, quarters(60, 75, 75, 75), false],
    ['what falls is none', RSS, series((at) => 60 - 20 * at), false],
    ['descriptors that stay open after a step are a leak', COUNT, series((at) => (at < 0.4 ? 40 : 43)), true],
    ['those of a moment are none', COUNT, series((at) => 40 + (Math.round(at * 400) % 5 === 0 ? 9 : 0)), false],
    ['as many as are allowed are none', COUNT, series((at) => (at < 0.5 ? 40 : 42)), false],
  ])('%s', (_rule, allowance, samples, leaks) => {
    expect(growthOf(samples, allowance).leaks).toBe(leaks);
  });

  test('the quarters are told, and the highest', () => {
    expect(growthOf([1, 1, 2, 2, 3, 9, 4, 4], COUNT)).toEqual({ quarters: [1, 2, 9, 4], highest: 9, growth: 3, leaks: true });
  });
});
