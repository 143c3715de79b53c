import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { native, thrownBy } from './native.js';

// Wine takes the numbers from the machine's own /proc/meminfo, which is the file Z:\proc\meminfo there: read before and after, it has them between.

interface Meminfo {
  readonly total: bigint;
  readonly swap: bigint;
  readonly available: bigint;
}

/** In bytes. What Wine takes for available is not MemAvailable. */
function meminfo(): Meminfo {
  const text = readFileSync('Z:\\proc\\meminfo', 'utf8');
  const of = (name: string): bigint => BigInt(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? '') * 1024n;
  return { total: of('MemTotal'), swap: of('SwapTotal'), available: of('MemFree') + of('Buffers') + of('Cached') };
}

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

  // Others on the machine take memory and give it back meanwhile: once in a while they do not.
  test('what is available lies between two readings of meminfo', () =>
    eventually('a reading between two others', () => {
      const slack = 4n << 20n;
      const before = meminfo().available;
      const info = native.performanceInfo();
      const after = meminfo().available;
      const available = info.physicalAvailable * info.pageSize;
      const [low, high] = before < after ? [before, after] : [after, before];
      return available >= low - slack && available <= high + slack;
    }));

  test('what it has no number for is 0: peak, cache and kernel', () => {
    const { commitPeak, systemCache, kernelTotal, kernelPaged, kernelNonpaged } = native.performanceInfo();
    expect([commitPeak, systemCache, kernelTotal, kernelPaged, kernelNonpaged]).toEqual([0n, 0n, 0n, 0n, 0n]);
  });

  test('touching 256 MiB takes them from what is available', () => {
    const bytes = 256 << 20;
    const read = (): bigint => {
      const info = native.performanceInfo();
      return info.physicalAvailable * info.pageSize;
    };
    return eventually('as much less is available', () => {
      const before = read();
      const held = Buffer.alloc(bytes, 1);
      const taken = before - read();
      return held[bytes - 1] === 1 && taken > (BigInt(bytes) * 3n) / 4n && taken < (BigInt(bytes) * 5n) / 4n;
    });
  });
});
