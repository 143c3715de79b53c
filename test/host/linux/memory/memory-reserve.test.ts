import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { MemoryReserve } from '../../../../src/core/signal/memory-reserve.js';
import { parseMemoryReserve, readMemoryReserve, type ReserveFiles } from '../../../../src/host/linux/memory/memory-reserve.js';

const Ki = 1024n;
const Mi = 1024n * Ki;

/** The fields of /proc/meminfo that matter, as Linux 6.18 writes them. */
const meminfo = (fields: Readonly<Record<string, string>>): string =>
  Object.entries({ MemTotal: '8388608 kB', MemFree: '23611568 kB', ...fields })
    .map(([key, value]) => `${`${key}:`.padEnd(16)} ${value}\n`)
    .join('');

const none = { totalBytes: 8192n * Mi, minFreeBytes: 66n * Mi, hugePagesBytes: 0n, kernelBytes: 0n, swapBytes: 0n };

const parse = (files: Partial<ReserveFiles>, pageSize = 4096n): MemoryReserve | undefined =>
  parseMemoryReserve({ meminfo: meminfo({}), minFreeKbytes: '67584\n', vmstat: '', swaps: '', zoneinfo: '', ...files }, pageSize);

test.each<[rule: string, fields: Readonly<Record<string, string>>, minFree: string, expected: MemoryReserve | undefined]>([
  ['kilobytes', {}, '67584\n', none],
  ['no memory is reserved', {}, '0\n', { ...none, minFreeBytes: 0n }],
  [
    'Hugetlb counts the pools of all sizes',
    { HugePages_Total: '512', Hugepagesize: '2048 kB', Hugetlb: '3145728 kB' },
    '67584',
    { ...none, hugePagesBytes: 3072n * Mi },
  ],
  [
    'before Linux 4.16 the reserve is the huge pages of the default size',
    { HugePages_Total: '512', Hugepagesize: '2048 kB' },
    '67584',
    { ...none, hugePagesBytes: 1024n * Mi },
  ],
  [
    'memory that the kernel cannot reclaim is in the reserve, and SReclaimable is not',
    {
      Slab: '139960 kB',
      SReclaimable: '114072 kB',
      SUnreclaim: '25888 kB',
      KernelStack: '1720 kB',
      PageTables: '9840 kB',
      Percpu: '688 kB',
    },
    '67584',
    { ...none, kernelBytes: (25888n + 1720n + 9840n + 688n) * Ki },
  ],
  ['text that is not a number', {}, '', undefined],
  ['MemTotal is missing', { MemTotal: '' }, '67584', undefined],
])('%s', (_rule, fields, minFree, expected) => {
  expect(parse({ meminfo: meminfo(fields), minFreeKbytes: minFree })).toEqual(expected);
});

test('the pools of zram and zswap are pages of the kernel', () => {
  const kernelBytes = (pageSize: bigint) => parse({ vmstat: 'nr_zspages 256\nnr_zspages_other 9\n' }, pageSize)?.kernelBytes;
  expect([kernelBytes(4096n), kernelBytes(65536n)]).toEqual([Mi, 16n * Mi]);
});

test.each<[rule: string, swaps: string, zram: true | undefined]>([
  ['a disk', 'Filename Type Size Used Priority\n/dev/vda2 partition 1 0 -2\n', undefined],
  ['zram beside a disk', 'Filename Type Size Used Priority\n/dev/vda2 partition 1 0 -2\n/dev/zram0 partition 1 0 100\n', true],
  ['a file whose name has it', 'Filename Type Size Used Priority\n/swap/dev/zram file 1 0 -2\n', undefined],
])('swap on zram is detected: %s', (_rule, swaps, zram) => {
  expect(parse({ swaps })?.zram).toBe(zram);
});

test('the reserve of this machine is read', () => {
  expect(readMemoryReserve()).toMatchObject({
    totalBytes: BigInt(/MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * Ki,
    minFreeBytes: BigInt(readFileSync('/proc/sys/vm/min_free_kbytes', 'utf8').trim()) * Ki,
  });
});

test('the memory that kswapd keeps free is the sum over the zones that have memory', () => {
  const zoneinfo = readFileSync('test/fixtures/linux/doctor/zoneinfo', 'latin1');
  expect(parse({ zoneinfo })?.highBytes).toBe((127n + 16_766n) * 4096n);
  expect(parse({ zoneinfo: 'Node 0, zone      DMA\n' })).not.toHaveProperty('highBytes');
});
