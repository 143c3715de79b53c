import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { registeredUsage, usageThreshold, usedLimit } from '../../../src/core/signal/memcg.js';

const KiB = 1024n;
const MiB = 1024n * KiB;
const page = 4n * KiB;

test.each<[rule: string, capacity: bigint, threshold: bigint, inactiveFile: bigint, expected: bigint]>([
  ['capacity − threshold + inactive_file (memcg.jsonl, hand-001)', 4096n * MiB, 1024n * MiB, 1024n * MiB, 4096n * MiB],
  ['there is no inactive file memory', 4096n * MiB, 100n * MiB, 0n, 3996n * MiB],
  ['a threshold larger than the capacity', 64n * MiB, 100n * MiB, 0n, -36n * MiB],
])('the usage at which a threshold is met: %s', (_rule, capacity, threshold, inactiveFile, expected) => {
  expect(usageThreshold(capacity, threshold, inactiveFile)).toBe(expected);
});

test.each<[rule: string, usageThresholdBytes: bigint, pageSize: bigint, expected: bigint]>([
  ['a limit on a page boundary gives the next page, because the kernel notifies at equality', 8n * page, page, 9n * page],
  ['one byte below a boundary gives that boundary', 8n * page - 1n, page, 8n * page],
  ['one byte beyond a boundary gives the next page', 8n * page + 1n, page, 9n * page],
  ['a limit of no memory gives the first page', 0n, page, page],
  ['always met: the first page', -5n * page, page, page],
  ['pages of 64 KiB', 8n * page, 64n * KiB, 64n * KiB],
])('the usage that is registered with the kernel: %s', (_rule, usageThresholdBytes, pageSize, expected) => {
  expect(registeredUsage(usageThresholdBytes, pageSize)).toBe(expected);
});

test.each<[rule: string, capacity: bigint, threshold: bigint, expected: bigint]>([
  ['the limit is one byte more than capacity − threshold', 256n * MiB, 64n * MiB, 192n * MiB + 1n],
  ['a threshold of the whole capacity: from the first byte', 64n * MiB, 64n * MiB, 1n],
  ['a threshold beyond the capacity is always met', 64n * MiB, 65n * MiB, 1n],
])('the limit of memory in use: %s', (_rule, capacity, threshold, expected) => {
  expect(usedLimit(capacity, threshold)).toBe(expected);
});

describe('the registration agrees with the definition of available', () => {
  const bytes = (max: bigint) => fc.bigInt({ min: 0n, max });
  const node = fc.record({
    capacity: bytes(1024n * MiB),
    threshold: bytes(256n * MiB),
    inactiveFile: bytes(64n * MiB),
    pages: bytes(300_000n),
  });
  const met = (n: { capacity: bigint; threshold: bigint; inactiveFile: bigint; pages: bigint }) => {
    const workingSet = n.pages * page - n.inactiveFile;
    return n.capacity - (workingSet > 0n ? workingSet : 0n) < n.threshold;
  };

  test('the kernel, comparing whole pages, is at or above the registration exactly where the threshold is met', () => {
    fc.assert(
      fc.property(node, (n) => {
        fc.pre(n.threshold <= n.capacity);
        const registered = registeredUsage(usageThreshold(n.capacity, n.threshold, n.inactiveFile), page);
        expect(n.pages >= registered / page).toBe(met(n));
      }),
    );
  });

  test('the sampler is at or above its limit exactly where the threshold is met', () => {
    fc.assert(
      fc.property(node, (n) => {
        fc.pre(n.threshold <= n.capacity);
        expect(n.pages * page - n.inactiveFile >= usedLimit(n.capacity, n.threshold)).toBe(met(n));
      }),
    );
  });
});
