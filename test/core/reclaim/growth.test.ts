import { expect, test } from 'vitest';
import { leastGrowth } from '../../../src/core/reclaim/growth.js';

const MIB = 1n << 20n;

test.each<[rule: string, reliefMib: bigint, availableMib: bigint, mebibytes: bigint]>([
  ['a twentieth of what has to be available', 1000n, 900n, 50n],
  ['a quarter of what was available, where less is left to grow', 10_000n, 400n, 100n],
  ['no noise: a small threshold', 40n, 900n, 4n],
  ['no noise: nothing left', 1000n, 0n, 4n],
])('the least growth that explains a shortage is %s', (_rule, relief, available, mebibytes) => {
  expect(leastGrowth(relief * MIB, available * MIB)).toBe(mebibytes * MIB);
});
