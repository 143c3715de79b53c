import { expect, test } from 'vitest';
import { filesystemAvailable, volumeOf } from '../../../src/host/windows/volumes.js';
import type { FilesystemReading } from '../../../src/native/windows-binding.js';

const s = 1_000_000_000n;
const fine: FilesystemReading = {
  totalBytes: 1000n,
  freeBytes: 300n,
  availableBytes: 250n,
  errno: 0,
  atNs: 100n * s,
  pending: false,
  pendingSinceNs: 0n,
};

test('available is the caller’s share under its quota, at the time of the answer', () => {
  expect(filesystemAvailable('C:\\', fine, 105n * s)).toEqual({
    available: 250n,
    capacity: 1000n,
    timeNs: 100n * s,
    source: 'GetDiskFreeSpaceEx of C:\\',
  });
});

test.each<[rule: string, reading: Partial<FilesystemReading>, reason: string]>([
  [
    'the volume has not answered for 10 s, whatever it answered before',
    { pending: true, pendingSinceNs: 110n * s },
    'no answer from the filesystem of D:\\ for 10 s',
  ],
  ['the volume has not been read yet', { atNs: 0n }, 'D:\\: not read yet'],
  ['a drive that does not exist', { errno: 3 }, 'D:\\: ERROR_PATH_NOT_FOUND (no such path)'],
  ['an error without a word for it', { errno: 1117 }, 'D:\\: error 1117 of Windows'],
])('the reading is missing: %s', (_rule, reading, reason) => {
  expect(filesystemAvailable('D:\\', { ...fine, ...reading }, 120n * s)).toEqual({ missing: reason });
});

test.each<[rule: string, path: string, other: string, of: Partial<FilesystemReading>, same: boolean]>([
  ['one drive, written differently', 'C:\\', 'c:/ProgramData', {}, true],
  ['another drive of the same size', 'C:\\', 'D:\\', {}, false],
  ['a volume that is mounted in a folder of the drive', 'C:\\', 'C:\\images', { totalBytes: 2000n }, false],
  ['the same share', '\\\\server\\share\\a', '\\\\SERVER\\share\\b', {}, true],
  ['another share of the same server', '\\\\server\\share', '\\\\server\\other', {}, false],
])('two paths are on one volume or on two: %s', (_rule, path, other, of, same) => {
  expect(volumeOf(path, fine) === volumeOf(other, { ...fine, ...of })).toBe(same);
});

test.each<[rule: string, reading: Partial<FilesystemReading>]>([
  ['has not answered', { atNs: 0n }],
  ['was refused', { errno: 21 }],
])('a path with %s is on no known volume', (_rule, reading) => {
  expect(volumeOf('C:\\', { ...fine, ...reading })).toBeUndefined();
});
