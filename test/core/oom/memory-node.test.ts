import { expect, test } from 'vitest';
import { boundTo, numbersIn, parseMemoryNode } from '../../../src/core/oom/memory-node.js';

/** As Linux 6.12 writes them; the amounts are round. 1 MiB has 256 pages. */
const MEMINFO = (values: Readonly<Record<string, number>>): string =>
  Object.entries({ MemTotal: 1000, MemFree: 300, 'Active(file)': 60, 'Inactive(file)': 40, KReclaimable: 50, Shmem: 70, ...values })
    .map(([key, mib]) => `Node 1 ${`${key}:`.padEnd(16)}${String(mib * 1024)} kB\n`)
    .join('');
const ZONE = (node: number, name: string, low: number, high: number, managed: number, protection: string): string =>
  `Node ${String(node)}, zone ${name.padStart(8)}
  per-node stats
      nr_inactive_file 274409
  pages free     3840
        boost    0
        min      15
        low      ${String(low)}
        high     ${String(high)}
        managed  ${String(managed)}
        protection: (${protection})
      nr_free_pages 3840
`;
const ZONES = [
  ZONE(0, 'DMA', 25_600, 51_200, 51_200, '0, 0, 0'),
  ZONE(1, 'DMA32', 256, 512, 25_600, '0, 0, 1024'),
  ZONE(1, 'Normal', 2304, 4608, 230_400, '0, 0, 0'),
].join('');
const available = (meminfo: string, zoneinfo = ZONES): number | undefined => {
  const read = parseMemoryNode(1, meminfo, zoneinfo);
  return read && Number(read.availableBytes) / 2 ** 20;
};

test.each<[rule: string, meminfo: string, zoneinfo: string, mib: number | undefined]>([
  // 300 free − 24 reserved + (100 − 10) cache + (50 − 10) slab
  ['free memory above the reserve, and what the kernel can drop above a low watermark', MEMINFO({}), ZONES, 406],
  ['at most half of what the kernel can drop stays', MEMINFO({ 'Active(file)': 0, 'Inactive(file)': 8, KReclaimable: 4 }), ZONES, 282],
  ['shared memory is in no list of files', MEMINFO({ Shmem: 700 }), ZONES, 406],
  ['a kernel before 4.20 has SReclaimable', MEMINFO({}).replace('KReclaimable:', 'SReclaimable:'), ZONES, 406],
  ['an empty node', MEMINFO({ MemFree: 10, 'Active(file)': 0, 'Inactive(file)': 0, KReclaimable: 0 }), ZONES, 0],
  ['a reserve is at most the zone', MEMINFO({}), ZONES.replace('0, 0, 1024', '0, 0, 900000'), 312],
  ['the node has no watermarks', MEMINFO({}), '', 450],
  ['the node has no total', MEMINFO({}).replace('MemTotal', 'MemAll'), ZONES, undefined],
  ['the node has no free memory', MEMINFO({}).replace('MemFree', 'MemLeft'), ZONES, undefined],
])('available on a memory node: %s', (_rule, meminfo, zoneinfo, mib) => {
  expect(available(meminfo, zoneinfo)).toBe(mib);
});

test('pages have the size that the node’s memory files imply', () => {
  const large = (pages: string): string => String(Number(pages) / 16);
  const zones = ZONES.replace(/(?<=(low|high|managed) +)\d+/g, large).replace('1024', '64');
  expect(available(MEMINFO({}), zones)).toBe(406);
});

test('a cpuset binds only if it keeps processes off a node', () => {
  expect(['0-1\n', '1\n', '0\n', '', '0-3\n'].map((mems) => boundTo([0, 1], mems))).toEqual([undefined, [1], [0], undefined, undefined]);
});

test('lists of memory nodes are parsed', () => {
  expect(['0\n', '0-2,5\n', '1,3-4\n', ''].map(numbersIn)).toEqual([[0], [0, 1, 2, 5], [1, 3, 4], []]);
});
