import { statfsSync } from 'node:fs';
import { MIN_BYTES } from '../../../core/budget/memory-growth.js';
import { withAncestors } from '../../../core/workload/cgroup.js';
import { attempt } from '../../../errors.js';
import { fsPath } from '../../../byte-paths.js';
import { readOwnMounts, type Mount } from '../disk/mountinfo.js';

const TMPFS = 0x01021994n;
/** At most so many are asked, about 2 µs each. */
const MAX_ASKED = 512;
/** The kernel finds a mount below these without asking another machine or process, so that the way there never hangs. */
const LOCAL = new Set(
  ['tmpfs', 'devtmpfs', 'ramfs', 'rootfs', 'ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'bcachefs', 'overlay'].concat([
    'squashfs',
    'erofs',
    'iso9660',
    'vfat',
    'sysfs',
    'proc',
    'cgroup',
    'cgroup2',
  ]),
);

/**
 * Bytes in use of each tmpfs, swapped ones too, by the first mount point; the small ones are left out. Never throws, and
 * never hangs: see {@link tmpfsMounts}.
 */
export function readTmpfs(mounts: readonly Mount[] = readOwnMounts()): ReadonlyMap<string, bigint> {
  return new Map(
    tmpfsMounts(mounts).flatMap(({ mountPoint }) => {
      const { type, blocks, bfree, bsize } = attempt(() => statfsSync(fsPath(mountPoint), { bigint: true })) ?? NONE;
      const used = type === TMPFS ? (blocks - bfree) * bsize : 0n;
      return used >= MIN_BYTES ? [[mountPoint, used] as const] : [];
    }),
  );
}

const NONE = { type: 0n, blocks: 0n, bfree: 0n, bsize: 0n };

/**
 * The mounts to ask, one for each tmpfs: no other mount hides it, and nothing on the way there may hang. Not those of a
 * user, who may mount FUSE over it meanwhile.
 */
export function tmpfsMounts(mounts: readonly Mount[]): readonly Mount[] {
  const places = new Map<string, { readonly last: number; readonly isLocal: boolean }>();
  for (const [last, { mountPoint, type }] of mounts.entries()) {
    places.set(mountPoint, { last, isLocal: LOCAL.has(type) && places.get(mountPoint)?.isLocal !== false });
  }
  const found = new Map<bigint, Mount>();
  for (const [index, mount] of mounts.entries()) {
    const { type, device, mountPoint, options } = mount;
    if ((type !== 'tmpfs' && type !== 'devtmpfs') || found.has(device) || options.some((option) => /^uid=[^0]/.test(option))) continue;
    const isSafe = withAncestors(mountPoint).every((path) => {
      const place = places.get(path);
      return place === undefined || (place.isLocal && place.last <= index);
    });
    if (isSafe) found.set(device, mount);
  }
  return [...found.values()].slice(0, MAX_ASKED);
}
