import { expect, test } from 'vitest';
import { filesystemObservations } from '../../../../src/host/linux/disk/filesystems.js';
import { whyNoDisk } from '../../../../src/host/linux/disk/no-disk.js';
import type { FilesystemReading } from '../../../../src/native/binding.js';

const s = 1_000_000_000n;
const fine: FilesystemReading = {
  totalBytes: 1000,
  freeBytes: 300,
  availableBytes: 250,
  inodes: 80,
  inodesFree: 20,
  fsType: 0xef53,
  device: 1n,
  errno: 0,
  atNs: 100n * s,
  pending: false,
  pendingSinceNs: 0n,
};

const HINT = ': set filesystems.nodefs to a directory on a disk';
const observations = (reading: FilesystemReading, nowNs: bigint) => {
  const path = { path: '/var', role: 'nodefs', noDisk: reading.atNs === 0n ? undefined : whyNoDisk(reading, '/var', []) } as const;
  return filesystemObservations(path, reading, nowNs);
};

test('available is the amount that an unprivileged process may use, at the time of the answer', () => {
  expect(observations(fine, 105n * s)).toEqual({
    available: { available: 250n, capacity: 1000n, timeNs: 100n * s, source: 'statfs of /var' },
    inodesFree: { available: 20n, capacity: 80n, timeNs: 100n * s, source: 'statfs of /var' },
  });
});

test.each<[rule: string, reading: Partial<FilesystemReading>, reason: string]>([
  [
    'the filesystem has not answered for 10 s, whatever it answered before',
    { pending: true, pendingSinceNs: 110n * s },
    'no answer from the filesystem of /var for 10 s',
  ],
  [
    'the filesystem has never answered, for a long time',
    { atNs: 0n, pending: true, pendingSinceNs: 60n * s },
    'no answer from the filesystem of /var for 60 s',
  ],
  ['the filesystem has not been read yet', { atNs: 0n }, '/var: not read yet'],
  ['the filesystem is in memory', { fsType: 0x01021994 }, `/var is in memory (tmpfs), not on a disk${HINT}`],
  ['the filesystem is in memory, without a size', { fsType: 0x858458f6 }, `/var is in memory (ramfs), not on a disk${HINT}`],
  ['the filesystem is a read-only image', { fsType: 0x73717368 }, `/var is a read-only image (squashfs), which is always full${HINT}`],
  ['refused', { errno: 2 }, '/var: ENOENT (no such file or directory)'],
])('the reading is missing: %s', (_rule, reading, reason) => {
  const observed = observations({ ...fine, ...reading }, 120n * s);
  expect(observed).toEqual({ available: { missing: reason }, inodesFree: { missing: reason } });
});

test('a short wait keeps the last answer', () => {
  const observed = observations({ ...fine, pending: true, pendingSinceNs: 110n * s + 1n }, 120n * s);
  expect(observed.available).toMatchObject({ available: 250n, timeNs: 100n * s });
});

test('a filesystem that makes inodes as needed (btrfs) has bytes and no inodes', () => {
  const observed = observations({ ...fine, inodes: 0, inodesFree: 0 }, 101n * s);
  expect(observed.available).toMatchObject({ available: 250n });
  expect(observed.inodesFree).toEqual({ missing: 'the filesystem of /var does not count inodes', absent: true });
});
