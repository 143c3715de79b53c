import { describe, expect, test } from 'vitest';
import { liesBetween, meminfo } from './meminfo.js';
import { native, thrownBy } from './native.js';

const FIELDS = [
  'commitTotal',
  'commitLimit',
  'commitPeak',
  'physicalTotal',
  'physicalAvailable',
  'systemCache',
  'kernelTotal',
  'kernelPaged',
  'kernelNonpaged',
  'pageSize',
  'handleCount',
  'processCount',
  'threadCount',
];

describe('performanceInfo', () => {
  test('has every field of the structure, as bigints', () => {
    const info = native.performanceInfo();
    expect(Object.keys(info)).toEqual(FIELDS);
    expect([...new Set(Object.values(info).map((value) => typeof value))]).toEqual(['bigint']);
  });

  test('counts in pages: no more is promised than the limit, no more is available than there is', () => {
    const info = native.performanceInfo();
    expect(info.pageSize).toBe(4096n);
    expect(info.commitTotal).toBeGreaterThan(0n);
    expect(info.commitTotal).toBeLessThan(info.commitLimit);
    expect(info.physicalAvailable).toBeGreaterThan(0n);
    expect(info.physicalAvailable).toBeLessThan(info.physicalTotal);
    expect(info.physicalTotal).toBeLessThanOrEqual(info.commitLimit);
    expect(info.processCount).toBeGreaterThan(0n);
    expect(info.threadCount).toBeGreaterThanOrEqual(info.processCount);
    expect(info.handleCount).toBeGreaterThan(0n);
  });

  test.each([0, 1, 103])('a structure of %i bytes is refused', (size) => {
    expect(thrownBy(() => native.performanceInfo(size))).toMatchObject({
      code: 'ERROR_BAD_LENGTH',
      errno: -24,
      syscall: 'GetPerformanceInfo',
      message: expect.stringMatching(/^ERROR_BAD_LENGTH: .*[^.\s], GetPerformanceInfo$/) as string,
    });
  });

  test('the structure has 104 bytes, and no more of them can be asked for', () => {
    expect(native.performanceInfo(104).pageSize).toBe(4096n);
    expect(thrownBy(() => native.performanceInfo(105))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
    expect(thrownBy(() => native.performanceInfo('104' as unknown as number))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });
});

describe("Wine's numbers are the machine's", () => {
  test('the total is MemTotal less a page, the commit limit MemTotal and SwapTotal, give or take a page', () => {
    const { total, swap } = meminfo();
    const { physicalTotal, commitLimit, pageSize } = native.performanceInfo();
    expect(physicalTotal * pageSize).toBe(total - pageSize);
    const limit = total + swap;
    expect([limit - pageSize, limit, limit + pageSize]).toContain(commitLimit * pageSize);
  });

  test('what is available lies between two readings of meminfo', () =>
    liesBetween(
      ({ available }) => available,
      () => {
        const { physicalAvailable, pageSize } = native.performanceInfo();
        return physicalAvailable * pageSize;
      },
    ));

  test('what is committed is what is used of memory and swap: it lies between two readings of meminfo', () =>
    liesBetween(
      ({ total, swap, available, swapFree }) => total + swap - available - swapFree,
      () => {
        const { commitTotal, pageSize } = native.performanceInfo();
        return commitTotal * pageSize;
      },
    ));

  test('what may still be committed is what is available, and the free swap: it lies between two readings of meminfo', () =>
    liesBetween(
      ({ available, swapFree }) => available + swapFree,
      () => {
        const { commitLimit, commitTotal, pageSize } = native.performanceInfo();
        return (commitLimit - commitTotal) * pageSize;
      },
    ));

  test('what it has no number for is 0: peak, cache and kernel', () => {
    const { commitPeak, systemCache, kernelTotal, kernelPaged, kernelNonpaged } = native.performanceInfo();
    expect([commitPeak, systemCache, kernelTotal, kernelPaged, kernelNonpaged]).toEqual([0n, 0n, 0n, 0n, 0n]);
  });
});
