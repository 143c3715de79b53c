import { expect, test } from 'vitest';
import { UsageGrowth } from '../../../src/features/status/usage-growth.js';
import type { RankedWorkload } from '../../../src/core/rank/rank.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import { SECOND, workload } from '../../core/support.js';

const using = (name: string, usage: bigint | undefined): RankedWorkload => ({ workload: workload(name), usage }) as RankedWorkload;

/** Asks at these seconds for these usages, and returns the last growth. */
function asked(...asks: [seconds: bigint, usage: bigint | undefined, signal?: Signal][]): number | undefined {
  const growth = new UsageGrowth();
  let last: ReadonlyMap<string, number> = new Map();
  for (const [seconds, usage, signal = 'memory.available'] of asks) last = growth.since(signal, [using('a', usage)], seconds * SECOND);
  return last.get('id-a');
}

test.each<[rule: string, asks: Parameters<typeof asked>, perSecond: number | undefined]>([
  ['the first answer has none', [[0n, 10n]], undefined],
  [
    'the growth is per second since the reading before',
    [
      [0n, 10n],
      [2n, 30n],
    ],
    10,
  ],
  [
    'below 0 if it shrinks',
    [
      [0n, 30n],
      [2n, 10n],
    ],
    -10,
  ],
  [
    'since the oldest of the last seconds',
    [
      [0n, 0n],
      [1n, 50n],
      [2n, 60n],
    ],
    30,
  ],
  [
    'a younger base after ten seconds',
    [
      [0n, 0n],
      [1n, 100n],
      [2n, 200n],
      [12n, 300n],
      [13n, 340n],
    ],
    20,
  ],
  [
    'a reading of a minute ago has no growth',
    [
      [0n, 0n],
      [61n, 600n],
    ],
    undefined,
  ],
  [
    'a reading of a minute ago is not a base any more',
    [
      [0n, 0n],
      [61n, 600n],
      [62n, 601n],
    ],
    1,
  ],
  [
    'another signal has usages of its own',
    [
      [0n, 0n],
      [1n, 600n, 'pid.available'],
    ],
    undefined,
  ],
  [
    'an unknown usage has no growth',
    [
      [0n, 0n],
      [1n, undefined],
    ],
    undefined,
  ],
  [
    'a usage that was unknown has none either',
    [
      [0n, undefined],
      [1n, 5n],
    ],
    undefined,
  ],
])('%s', (_rule, asks, perSecond) => {
  expect(asked(...asks)).toBe(perSecond);
});
