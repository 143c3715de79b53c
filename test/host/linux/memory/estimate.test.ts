import { expect, test } from 'vitest';
import { impossibleEstimate, type EstimateFiles } from '../../../../src/host/linux/memory/estimate.js';
import { readPageSize } from '../../../../src/host/linux/memory/memory-reserve.js';

const MiB = 1_048_576;
const [GiB, PAGE] = [1024 * MiB, Number(readPageSize())];

const meminfo = (total: number, available: number, free: number): string =>
  Object.entries({ MemTotal: total, MemFree: free, MemAvailable: available })
    .map(([key, bytes]) => `${`${key}:`.padEnd(16)} ${String(bytes / 1024)} kB\n`)
    .join('');

interface Zone {
  readonly managed: number;
  readonly high: number;
  readonly kept: number;
}
/** As Linux 6.18 writes it, shortened. */
const zoneinfo = (...zones: readonly Zone[]): string =>
  zones
    .map(({ managed, high, kept }) => {
      const numbers = [high, managed, 0, kept].map((bytes) => String(Math.ceil(bytes / PAGE)));
      const [highText = '', managedText = '', ...keptText] = numbers;
      return `Node 0, zone   Normal\n  pages free     1\n        high     ${highText}\n        managed  ${managedText}\n        protection: (${keptText.join(', ')})\n`;
    })
    .join('');

const SMALL: Zone = { managed: GiB, high: 16 * MiB, kept: 64 * MiB };
const LARGE: Zone = { managed: 15 * GiB, high: 100 * MiB, kept: 0 };
/** vm.min_free_kbytes = 4 GiB. */
const KEPT_FREE: Zone = { ...LARGE, high: 6 * GiB };
const LESS = "/proc/meminfo mixes two machines (lxcfs?): MemAvailable is less than MemFree − the kernel's reserve";

test.each<[rule: string, total: number, available: number, free: number, zones: readonly Zone[], missing: string | undefined]>([
  ['0 beside much free memory', 16 * GiB, 0, 10 * GiB, [SMALL, LARGE], LESS],
  ['0 where nothing is free', 16 * GiB, 0, 0, [SMALL, LARGE], undefined],
  ['0 where the kernel keeps all that is free', 16 * GiB, 0, 6 * GiB, [SMALL, KEPT_FREE], undefined],
  ['0 beside more than it keeps', 16 * GiB, 0, 8 * GiB, [SMALL, KEPT_FREE], LESS],
  ['a zone keeps no more than it has', 16 * GiB, 0, 8 * GiB, [{ ...SMALL, kept: 15 * GiB }, KEPT_FREE], LESS],
  ['a little below: processors count for themselves', 16 * GiB, 7.5 * GiB, 8 * GiB, [SMALL, LARGE], undefined],
  ['a container, whose meminfo is not that of the zones', 2 * GiB, 0, GiB, [SMALL, KEPT_FREE], LESS],
  ['zones that cannot be read', 16 * GiB, 0, 10 * GiB, [], undefined],
])('whether MemAvailable is possible: %s', (_rule, total, available, free, zones, missing) => {
  const again = (): EstimateFiles => ({ meminfo: meminfo(total, available, free), zoneinfo: zoneinfo(...zones) });
  expect(impossibleEstimate([total, available, free], again)).toEqual(missing === undefined ? undefined : { missing });
});

test('an estimate from two different times is accepted', () => {
  const again = () => ({ meminfo: meminfo(16 * GiB, MiB, MiB), zoneinfo: zoneinfo(SMALL, LARGE) });
  expect(impossibleEstimate([16 * GiB, MiB, 10 * GiB], again)).toBeUndefined();
});

test('the files are read again only for an estimate far below, and it is accepted if they cannot be read', () => {
  let reads = 0;
  const again = (): EstimateFiles => {
    reads += 1;
    throw new Error('EACCES');
  };
  expect(impossibleEstimate([16 * GiB, 9.3 * GiB, 10 * GiB], again)).toBeUndefined();
  expect(reads).toBe(0);
  expect(impossibleEstimate([16 * GiB, 0, 10 * GiB], again)).toBeUndefined();
  expect(reads).toBe(1);
});
