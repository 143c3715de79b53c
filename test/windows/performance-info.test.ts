import { describe, expect, test } from 'vitest';
import { liesBetween, meminfo } from './meminfo.js';
import { native, thrownBy } from './native.js';

describe('performanceInfo', () => {
  test('counts in pages: commitment is within the limit, and available within the total', () => {
    const info = native.performanceInfo();
    expect(info.pageSize).toBe(4096n);
    expect(info.commitTotal).toBeGreaterThan(0n);
    expect(info.commitTotal).toBeLessThan(info.commitLimit);
    expect(info.physicalAvailable).toBeGreaterThan(0n);
    expect(info.physicalAvailable).toBeLessThan(info.physicalTotal);
    expect(info.physicalTotal).toBeLessThanOrEqual(info.commitLimit);
  });

  test.each([0, 1, 103])('a structure of %i bytes is refused', (size) => {
    expect(thrownBy(() => native.performanceInfo(size))).toMatchObject({
      code: 'ERROR_BAD_LENGTH',
      errno: -24,
      syscall: 'GetPerformanceInfo',
      message: expect.stringMatching(/^ERROR_BAD_LENGTH: .*[^.\s], GetPerformanceInfo$/) as string,
    });
  });

  test('the structure has 104 bytes, and a larger one is refused', () => {
    expect(native.performanceInfo(104).pageSize).toBe(4096n);
    expect(thrownBy(() => native.performanceInfo(105))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
    expect(thrownBy(() => native.performanceInfo('104' as unknown as number))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });
});

describe('the numbers of Wine are those of the machine', () => {
  test('the total is MemTotal less a page, the commit limit MemTotal and SwapTotal, give or take a page', () => {
    const { total, swap } = meminfo();
    const { physicalTotal, commitLimit, pageSize } = native.performanceInfo();
    expect(physicalTotal * pageSize).toBe(total - pageSize);
    const limit = total + swap;
    expect([limit - pageSize, limit, limit + pageSize]).toContain(commitLimit * pageSize);
  });

  test('available memory lies between two readings of meminfo', () =>
    liesBetween(
      ({ available }) => available,
      () => {
        const { physicalAvailable, pageSize } = native.performanceInfo();
        return physicalAvailable * pageSize;
      },
    ));

  test('commitment is used memory and swap, between two readings of meminfo', () =>
    liesBetween(
      ({ total, swap, available, swapFree }) => total + swap - available - swapFree,
      () => {
        const { commitTotal, pageSize } = native.performanceInfo();
        return commitTotal * pageSize;
      },
    ));

  test('commitment that is left is available memory and free swap, between two readings of meminfo', () =>
    liesBetween(
      ({ available, swapFree }) => available + swapFree,
      () => {
        const { commitLimit, commitTotal, pageSize } = native.performanceInfo();
        return (commitLimit - commitTotal) * pageSize;
      },
    ));
});
