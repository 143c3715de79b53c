import { rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DiskMounts } from '../../../../src/host/linux/disk/disk-mounts.js';
import { deviceText, parseMountinfo } from '../../../../src/host/linux/disk/mountinfo.js';
import type { Statfs } from '../../../../src/host/linux/disk/no-disk.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const MINUTE_NS = 60_000_000_000n;
const [EXT4, TMPFS] = [0xef53, 0x01021994];
const filesystem = (device: bigint, fsType = EXT4): Statfs => ({ fsType, device, totalBytes: 1000 << 10, inodes: 80 });
const [ROOT, DATA] = [filesystem(0x802n), filesystem(0x803n)];
const line = (device: string, options: string, mountPoint = '/'): string => `30 1 ${device} / ${mountPoint} rw - ext4 d ${options}\n`;

function mountsOf(text: string) {
  const path = join(temporaryDirectory(), 'mountinfo');
  writeFileSync(path, text);
  const mounts = new DiskMounts(path);
  return { path, mounts, seen: () => mounts.known.map(({ device, options }) => `${deviceText(device)} ${options.join(',')}`) };
}

test('the mounts of a new filesystem are known at once, and no answer waits for those of a known one', async () => {
  const { path, mounts, seen } = mountsOf(line('8:2', 'rw'));
  mounts.follow([ROOT], MINUTE_NS);
  expect(seen()).toEqual(['8:2 rw']);
  writeFileSync(path, line('8:2', 'ro') + line('8:3', 'ro', '/data'));
  mounts.follow([ROOT], 2n * MINUTE_NS - 1n);
  mounts.follow([ROOT], 2n * MINUTE_NS);
  expect(seen()).toEqual(['8:2 rw']);
  await eventually('the mounts', () => seen().join() === '8:2 ro');
  mounts.follow([ROOT, DATA], 2n * MINUTE_NS + 1n);
  expect(seen()).toEqual(['8:2 ro', '8:3 ro']);
});

test('the mounts of a new filesystem count more than those that were requested before', async () => {
  const { path, mounts, seen } = mountsOf(line('8:2', 'rw'));
  mounts.follow([ROOT], MINUTE_NS);
  mounts.follow([ROOT], 2n * MINUTE_NS);
  writeFileSync(path, line('8:2', 'rw') + line('8:3', 'ro', '/data'));
  mounts.follow([ROOT, DATA], 2n * MINUTE_NS + 1n);
  expect(seen()).toEqual(['8:2 rw', '8:3 ro']);
  for (let read = 0; read < 20; read++) await readFile(path);
  expect(seen()).toEqual(['8:2 rw', '8:3 ro']);
});

test('mounts that cannot be read are as they were, until they can be read', async () => {
  const { path, mounts, seen } = mountsOf(line('8:2', 'ro'));
  let nowNs = MINUTE_NS;
  mounts.follow([ROOT], nowNs);
  rmSync(path);
  mounts.follow([ROOT, DATA], nowNs);
  mounts.follow([ROOT, DATA], (nowNs += MINUTE_NS));
  expect(seen()).toEqual(['8:2 ro']);
  writeFileSync(path, line('8:3', 'rw'));
  await eventually('the mounts', () => {
    mounts.follow([ROOT, DATA], (nowNs += MINUTE_NS));
    return seen().join() === '8:3 rw';
  });
});

test('of thousands of mounts only those of the watched filesystems are kept, and none for one in memory', () => {
  const pods = Array.from({ length: 5000 }, (_, index) => line(`0:${String(60 + index)}`, 'rw', `/pods/${String(index)}`));
  const { mounts, seen } = mountsOf([...pods, line('8:2', 'ro')].join(''));
  mounts.follow([filesystem(0x1an, TMPFS)], MINUTE_NS);
  expect(seen()).toEqual([]);
  mounts.follow([filesystem(0x1an, TMPFS), ROOT], MINUTE_NS);
  expect(seen()).toEqual(['8:2 ro']);
});

test.each(['0:0', '0:40', '8:2', '253:255', '259:256', '4095:1048575', '4096:4294967295'])(
  'a device number is written as read: %s',
  (number) => {
    expect(parseMountinfo(line(number, 'rw')).map(({ device }) => deviceText(device))).toEqual([number]);
  },
);
