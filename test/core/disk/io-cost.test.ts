import { expect, test } from 'vitest';
import { asIoStat, ioCost, type DeviceKind } from '../../../src/core/disk/io-cost.js';

const KINDS: Readonly<Record<string, DeviceKind>> = { '8:0': 'hdd', '259:0': 'ssd' };
const costOf = (text: string): number => ioCost(text, (device) => KINDS[device]);

test.each<[rule: string, text: string, cost: number]>([
  ['there has been no I/O yet', '', 0],
  ['1.6 MB read from an SSD: 1', '259:0 rbytes=1600000 wbytes=0 rios=0 wios=0 dbytes=0 dios=0\n', 1],
  ['operations of an SSD', '259:0 rbytes=0 wbytes=0 rios=1000 wios=1000 dbytes=0 dios=100\n', 12.1 + 1.07 + 2.37],
  ['a read from a hard disk costs a seek, a write goes into its cache', '8:0 rbytes=0 wbytes=0 rios=100 wios=100\n', 25.8 + 0.131],
  ['devices are added up', '8:0 rbytes=0 wbytes=0 rios=100 wios=0\n259:0 rbytes=1600000 wbytes=0 rios=0 wios=0\n', 26.8],
  ["the kernel's model instead: µs", '8:0 rbytes=4096 wbytes=0 rios=900 wios=0 dbytes=0 dios=0 cost.usage=2500000\n', 250],
  ['a cost model of a device counts on that device', '8:0 rios=1 cost.usage=10000\n259:0 rbytes=1600000 rios=0\n', 2],
  ['I/O of a device that is not a disk costs nothing', '252:0 rbytes=999999999 wbytes=0 rios=999 wios=0\n', 0],
])('%s', (_rule, text, cost) => {
  expect(costOf(text)).toBeCloseTo(cost, 9);
});

// Linux 6.1, blkio.throttle.io_service_bytes_recursive and io_serviced_recursive.
test('cgroup v1 has the same transfers in two files', () => {
  const lines = (read: number, write: number): string =>
    [
      `259:0 Read ${String(read)}`,
      `259:0 Write ${String(write)}`,
      '259:0 Sync 9',
      '259:0 Async 9',
      '259:0 Discard 0',
      '259:0 Total 99',
      'Total 99',
    ].join('\n');
  expect(costOf(asIoStat(lines(1_600_000, 0), lines(1000, 1000)))).toBeCloseTo(1 + 12.1 + 1.07, 9);
});
