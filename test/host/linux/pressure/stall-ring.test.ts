import { expect, test } from 'vitest';
import { StallRing } from '../../../../src/host/linux/pressure/psi-trigger.js';

const MS = 1_000_000n;
/** Readings as [ms, ms lost so far]; the answers in percent. */
function shares(readings: readonly (readonly [atMs: number, lostMs: number])[]): (number | undefined)[] {
  const ring = new StallRing(2_000n * MS);
  return readings.map(([atMs, lostMs]) => {
    const share = ring.add(BigInt(atMs) * MS, BigInt(lostMs) * 1_000n);
    return share === undefined ? undefined : Number(share) / 1e7;
  });
}

test.each<[rule: string, readings: readonly (readonly [number, number])[], percent: (number | undefined)[]]>([
  ['the first reading has no share, which is unknown and not zero', [[0, 900]], [undefined]],
  [
    'a reading before the window is over has no share',
    [
      [0, 0],
      [1_999, 1_999],
    ],
    [undefined, undefined],
  ],
  [
    'a reading one window later has a share',
    [
      [0, 500],
      [2_000, 1_300],
    ],
    [undefined, 40],
  ],
  [
    'time lost before the window does not count',
    [
      [0, 0],
      [500, 500],
      [1_000, 1_000],
      [2_500, 1_000],
      [3_000, 1_000],
    ],
    [undefined, undefined, undefined, 25, 0],
  ],
  [
    'between two readings the time is taken for evenly lost',
    [
      [0, 0],
      [1_000, 1_000],
      [2_500, 1_000],
    ],
    [undefined, undefined, 25],
  ],
  [
    'a gap as long as the window',
    [
      [0, 0],
      [2_000, 1_000],
      [3_000, 1_000],
    ],
    [undefined, 50, 25],
  ],
  [
    'a longer gap says nothing about the last window: all of it may have been lost before',
    [
      [0, 0],
      [3_001, 1_000],
      [4_000, 1_999],
      [5_001, 3_000],
    ],
    [undefined, undefined, undefined, 100],
  ],
  [
    'a reading that comes a little late after a window leaves no gap',
    [
      [0, 0],
      [2_500, 100],
      [3_000, 600],
      [4_499, 600],
    ],
    [undefined, 4, 28, 25.002],
  ],
  [
    'a gap without a stall may be of any length: no time before the window can count in it',
    [
      [0, 700],
      [60_000, 700],
      [61_000, 1_300],
    ],
    [undefined, 0, 30],
  ],
  [
    'a total that went back is another cgroup’s',
    [
      [0, 5_000],
      [2_000, 100],
      [4_000, 1_100],
    ],
    [undefined, undefined, 50],
  ],
  [
    'the share is at most all of the time',
    [
      [0, 0],
      [2_000, 2_001],
    ],
    [undefined, 100],
  ],
])('%s', (_rule, readings, percent) => {
  expect(shares(readings)).toEqual(percent);
});

test('readings a millisecond apart give the right share, and are thinned', () => {
  const ring = new StallRing(2_000n * MS);
  let share: bigint | undefined;
  // a third of the time until 10 s, then all of it
  for (let ms = 0; ms <= 11_000; ms++)
    share = ring.add(BigInt(ms) * MS, BigInt(ms <= 10_000 ? Math.floor((ms * 1_000) / 3) : 3_333_333 + (ms - 10_000) * 1_000));
  expect(Number(share) / 1e9).toBeCloseTo(2 / 3, 3);
});

test('a steady loss is the same share, however often it is read', () => {
  for (const everyMs of [1, 7, 250, 500, 1_500, 1_999, 2_000]) {
    const ring = new StallRing(2_000n * MS);
    let share: bigint | undefined;
    for (let ms = 0; ms <= 40_000; ms += everyMs) share = ring.add(BigInt(ms) * MS, BigInt(ms) * 250n);
    expect(Number(share) / 1e9, `every ${String(everyMs)} ms`).toBeCloseTo(0.25, 5);
  }
});
