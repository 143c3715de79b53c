import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseMountinfo } from '../../../../src/host/linux/disk/mountinfo.js';
import { readTmpfs, tmpfsMounts } from '../../../../src/host/linux/memory/tmpfs-mounts.js';
import { fullFilesystem } from '../../../support/full-filesystem.js';

type Line = readonly [mountPoint: string, type: string, device?: string, options?: string];

const asked = (...lines: readonly Line[]): readonly string[] => {
  const text = [['/', 'ext4'] as const, ...lines].map(([mountPoint, type, device, options = 'rw'], index) => {
    return `${String(index)} 1 ${device ?? `0:${String(index)}`} / ${mountPoint} rw - ${type} none ${options}\n`;
  });
  return tmpfsMounts(parseMountinfo(text.join(''))).map(({ mountPoint }) => mountPoint);
};

test.each<[rule: string, lines: readonly Line[], mountPoints: readonly string[]]>([
  [
    'a tmpfs in another',
    [
      ['/run', 'tmpfs'],
      ['/run/x', 'tmpfs'],
    ],
    ['/run', '/run/x'],
  ],
  [
    'once if it is mounted twice',
    [
      ['/run', 'tmpfs', '0:9'],
      ['/mnt', 'tmpfs', '0:9'],
    ],
    ['/run'],
  ],
  [
    'not what another mount hides',
    [
      ['/run', 'tmpfs'],
      ['/run', 'tmpfs'],
    ],
    ['/run'],
  ],
  [
    'not below a mount that came later',
    [
      ['/run/x', 'tmpfs'],
      ['/run', 'tmpfs'],
    ],
    ['/run'],
  ],
  [
    'beside a longer name',
    [
      ['/run/x', 'tmpfs'],
      ['/run/xy', 'ext4'],
    ],
    ['/run/x'],
  ],
  [
    'not where FUSE is mounted over it, in any order',
    [
      ['/run', 'tmpfs'],
      ['/run', 'fuse.x'],
      ['/mnt', 'fuse.x'],
      ['/mnt', 'tmpfs'],
    ],
    [],
  ],
  [
    'not on the way through NFS',
    [
      ['/mnt', 'nfs4'],
      ['/mnt/a/b', 'tmpfs'],
    ],
    [],
  ],
  [
    'not through a type that is not known',
    [
      ['/mnt', 'newfs'],
      ['/mnt/a', 'tmpfs'],
    ],
    [],
  ],
  ["not a user's, who may mount over it", [['/run/user/7', 'tmpfs', '0:7', 'rw,mode=700,uid=7,gid=7']], []],
  [
    'no other filesystem',
    [
      ['/mnt', 'xfs'],
      ['/dev', 'devtmpfs'],
    ],
    ['/dev'],
  ],
])('which are asked: %s', (_rule, lines, mountPoints) => {
  expect(asked(...lines)).toEqual(mountPoints);
});

test('at most 512 mounts are read', () => {
  expect(asked(...Array.from({ length: 600 }, (_, index): Line => [`/run/${String(index)}`, 'tmpfs']))).toHaveLength(512);
});

test('the bytes in a tmpfs, by its mount point; less than a mebibyte is left out', () => {
  const { directory } = fullFilesystem(8 * 1024);
  expect(readTmpfs().has(directory)).toBe(false);
  writeFileSync(join(directory, 'file'), Buffer.alloc(3 << 20));
  expect(readTmpfs().get(directory)).toBe(3n << 20n);
});
