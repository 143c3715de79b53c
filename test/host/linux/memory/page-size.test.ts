import { expect, test } from 'vitest';
import { parsePageSize, readPageSize } from '../../../../src/host/linux/memory/memory-reserve.js';

const auxv = (...words: bigint[]): Buffer => Buffer.from(BigUint64Array.from(words).buffer);

test.each<[rule: string, vector: Buffer, expected: bigint | undefined]>([
  ['AT_PAGESZ is 6', auxv(33n, 0x7ffd_0000n, 6n, 4096n, 0n, 0n), 4096n],
  ['64 KiB pages', auxv(6n, 65536n, 0n, 0n), 65536n],
  ['a value of 6 is not a type of 6', auxv(17n, 6n, 0n, 0n), undefined],
  ['nothing', auxv(), undefined],
])('%s', (_rule, vector, expected) => {
  expect(parsePageSize(vector)).toBe(expected);
});

test('the page size of this kernel is read', () => {
  expect([4096n, 16384n, 65536n]).toContain(readPageSize());
});
