import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { MemoryReserve } from '../../../../src/core/signal/memory-reserve.js';
import { parseMemoryReserve, readMemoryReserve } from '../../../../src/host/linux/memory/memory-reserve.js';

const Ki = 1024n;
const Mi = 1024n * Ki;

/** The fields of /proc/meminfo that matter, as Linux 6.18 writes them. */
const meminfo = (fields: Readonly<Record<string, string>>): string =>
  Object.entries({ MemTotal: '8388608 kB', MemFree: '23611568 kB', ...fields })
    .map(([key, value]) => `${`${key}:`.padEnd(16)} ${value}\n`)
    .join('');

const none = { totalBytes: 8192n * Mi, minFreeBytes: 66n * Mi, hugePagesBytes: 0n, kernelBytes: 0n };

test.each<[rule: string, fields: Readonly<Record<string, string>>, minFree: string, expected: MemoryReserve | undefined]>([
  ['kilobytes', {}, '67584\n', none],
  ['nothing is kept free', {}, '0\n', { ...none, minFreeBytes: 0n }],
  [
    'Hugetlb counts the pools of all sizes',
    { HugePages_Total: '512', Hugepagesize: '2048 kB', Hugetlb: '3145728 kB' },
    '67584',
    { ...none, hugePagesBytes: 3072n * Mi },
  ],
  [
    'before Linux 4.16 there is the pool of the default size',
    { HugePages_Total: '512', Hugepagesize: '2048 kB' },
    '67584',
    { ...none, hugePagesBytes: 1024n * Mi },
  ],
  [
    'what the kernel holds and cannot give back; SReclaimable it can',
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
  ['no number', {}, '', undefined],
  ['no MemTotal', { MemTotal: '' }, '67584', undefined],
])('%s', (_rule, fields, minFree, expected) => {
  expect(parseMemoryReserve(meminfo(fields), minFree)).toEqual(expected);
});

test('this machine', () => {
  expect(readMemoryReserve()).toMatchObject({
    totalBytes: BigInt(/MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * Ki,
    minFreeBytes: BigInt(readFileSync('/proc/sys/vm/min_free_kbytes', 'utf8').trim()) * Ki,
  });
});
