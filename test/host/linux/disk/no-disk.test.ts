import { expect, test } from 'vitest';
import type { FilesystemReading } from '../../../../src/native/binding.js';
import { parseMountinfo } from '../../../../src/host/linux/disk/mountinfo.js';
import { linesAbout, needsMounts, whyNoDisk, type Statfs } from '../../../../src/host/linux/disk/no-disk.js';

const [EXT4, OVERLAY, TMPFS, BTRFS, FUSE] = [0xef53, 0x794c7630, 0x01021994, 0x9123683e, 0x65735546];
/** 8:2 as in st_dev. */
const DEVICE = 0x802n;
const full = { fsType: EXT4, device: DEVICE, totalBytes: 1000 << 10, inodes: 80 };
const overlay = { ...full, fsType: OVERLAY, totalBytes: 64 << 10, inodes: 3 };
const LOWER = 'lowerdir=/run/live/rootfs/filesystem.squashfs/';
/** By all mounts, and by those that {@link linesAbout} selects. */
function judged(statfs: Statfs, path: string, ...lines: readonly string[]): string | undefined {
  const text = lines.map((line, index) => `${String(30 + index)} 1 ${line}\n`).join('');
  const why = whyNoDisk(statfs, path, parseMountinfo(text));
  expect(whyNoDisk(statfs, path, parseMountinfo(text, linesAbout([statfs])))).toBe(why);
  return why;
}

test.each<[rule: string, fsType: number, why: string | undefined]>([
  ['squashfs', 0x73717368, 'a read-only image (squashfs), which is always full'],
  ['erofs', 0xe0f5e1e2, 'a read-only image (erofs), which is always full'],
  ['iso9660', 0x9660, 'a read-only image (iso9660), which is always full'],
  ['cramfs', 0x28cd3d45, 'a read-only image (cramfs), which is always full'],
  ['romfs', 0x7275, 'a read-only image (romfs), which is always full'],
  ['tmpfs', TMPFS, 'in memory (tmpfs), not on a disk'],
  ['ramfs', 0x858458f6, 'in memory (ramfs), not on a disk'],
  ['hugetlbfs', 0x958458f6, 'in memory (hugetlbfs), not on a disk'],
  ['ext4', EXT4, undefined],
  ['btrfs', 0x9123683e, undefined],
])('a full filesystem is not a disk: %s', (_name, fsType, why) => {
  expect(whyNoDisk({ ...full, fsType }, '/', [])).toBe(why);
});

test.each<[rule: string, lines: readonly string[], why: string | undefined]>([
  ['writable', ['8:2 / / rw - ext4 /dev/sda2 rw'], undefined],
  ['read-only for this process alone', ['8:2 / / ro - ext4 /dev/sda2 rw'], undefined],
  ['read-only as a whole, as with dm-verity', ['8:2 / / ro - ext4 /dev/dm-0 ro'], 'read-only (ext4): it cannot fill up'],
  ['another device is mounted read-only', ['8:3 / / ro - ext4 /dev/sda3 ro', '8:2 / /var rw - ext4 /dev/sda2 rw'], undefined],
  ['a device that is not mounted here', ['8:3 / / ro - ext4 /dev/sda3 ro'], undefined],
])('a full disk is judged by its mounts: %s', (_rule, lines, why) => {
  expect(judged(full, '/', ...lines)).toBe(why);
});

/** A threshold may require any amount or share of bytes or of inodes, and what is free in a read-only filesystem never changes. */
test.each<[what: string, statfs: Partial<FilesystemReading>]>([
  ['no inode is free, and most bytes are', { availableBytes: 920 << 10, inodesFree: 0 }],
  ['a quarter of the bytes is free', { availableBytes: 260 << 10, inodesFree: 40 }],
  ['all is free', { availableBytes: 1000 << 10, inodesFree: 80 }],
])('a read-only filesystem is not a disk, however full it is: %s', (_what, statfs) => {
  const reading = { ...full, ...statfs };
  expect(needsMounts(reading)).toBe(true);
  expect(judged(reading, '/', '8:2 / / ro - ext4 /dev/dm-0 ro')).toBe('read-only (ext4): it cannot fill up');
});

test.each<[type: string, statfs: Partial<typeof full>, isNeeded: boolean]>([
  ['ext4', {}, true],
  ['an overlay', { fsType: OVERLAY }, true],
  ['tmpfs', { fsType: TMPFS }, false],
  ['squashfs', { fsType: 0x73717368 }, false],
  ['no answer yet', { fsType: 0, totalBytes: 0 }, false],
])('the mounts are read if the type does not tell: %s', (_type, statfs, isNeeded) => {
  expect(needsMounts({ ...full, ...statfs })).toBe(isNeeded);
});

const ON_LIVE = [`8:2 / / rw - overlay overlay rw,${LOWER},upperdir=/run/live/overlay/rw,workdir=/run/live/overlay/work`];
const onLive = (name: string) => [`8:2 / / rw - overlay o rw,lowerdir=/x\\040y,upperdir=/run/${name}/u,workdir=/run/${name}/w,uuid=on`];
const IN_MEMORY = 'in memory (overlay on tmpfs), not on a disk';
test.each<[rule: string, lines: readonly string[], statfs: Partial<typeof overlay>, why: string | undefined]>([
  ['tmpfs', [...ON_LIVE, '0:40 / /run/live/overlay rw - tmpfs tmpfs rw'], {}, IN_MEMORY],
  ['tmpfs with this size', [...ON_LIVE, '0:40 / /run/live/overlay rw - tmpfs tmpfs rw,size=64k'], {}, IN_MEMORY],
  ['tmpfs with another size, which is another tmpfs', [...ON_LIVE, '0:40 / /run rw - tmpfs tmpfs rw,size=63k'], {}, undefined],
  ['the innermost mount counts', [...ON_LIVE, '0:41 / /run rw - tmpfs t rw', '8:3 / /run/live rw - ext4 /dev/sda3 rw'], {}, undefined],
  ['a mount that only begins alike', [...ON_LIVE, '0:41 / /run/liv rw - tmpfs t rw'], {}, undefined],
  ['a hidden tmpfs, which has as many inodes as pages', ['8:2 / / rw - overlay /cow rw,upperdir=/cow/upper'], { inodes: 16 }, IN_MEMORY],
  ['a hidden disk', ['8:2 / / rw - overlay overlay rw,upperdir=/var/lib/docker/overlay2/1/diff'], {}, undefined],
  // As Linux 6.18 writes `upperdir=/run/a b/u`, `/run/a\\,b/u` and `/run/a\\\\b/u` of mount(8), and as older ones do.
  ['tmpfs with a blank', [...onLive('a\\040b'), '0:40 / /run/a\\040b rw - tmpfs tmpfs rw'], {}, IN_MEMORY],
  ['tmpfs with a comma', [...onLive('a\\134\\054b'), '0:40 / /run/a,b rw - tmpfs tmpfs rw'], {}, IN_MEMORY],
  ['tmpfs with a comma, formerly', [...onLive('a\\,b'), '0:40 / /run/a,b rw - tmpfs tmpfs rw'], {}, IN_MEMORY],
  ['tmpfs with a backslash', [...onLive('a\\134\\134b'), '0:40 / /run/a\\134b rw - tmpfs tmpfs rw'], {}, IN_MEMORY],
  [
    'a disk with a blank, on tmpfs',
    [...onLive('a\\040b'), '0:40 / /run rw - tmpfs t rw', '8:3 / /run/a\\040b rw - ext4 d rw'],
    {},
    undefined,
  ],
  ['none', [`8:2 / / ro - overlay overlay ro,${LOWER}`], {}, 'read-only (overlay): it cannot fill up'],
])('an overlay is judged by the filesystem that it writes to: %s', (_rule, lines, statfs, why) => {
  expect(judged({ ...overlay, ...statfs }, '/', ...lines)).toBe(why);
});

/** A subvolume's own device number. */
const btrfs = { ...full, fsType: BTRFS, device: 0x99n, inodes: 0 };
const [IMAGE, DATA] = ['0:40 / /img ro - btrfs /dev/loop0 ro,subvol=/', '0:41 / /data rw - btrfs /dev/sda2 rw'];
const READ_ONLY = 'read-only (btrfs): it cannot fill up';
test.each<[rule: string, path: string, lines: readonly string[], why: string | undefined]>([
  ['read-only', '/img', [IMAGE], READ_ONLY],
  ['the read-only mount beside a writable one', '/img', [IMAGE, DATA], READ_ONLY],
  ['writable', '/data', [IMAGE, DATA], undefined],
  ['a directory in the only mount', '/img/data', [IMAGE], READ_ONLY],
  ['a directory that may be a link to the writable mount', '/img/data', [IMAGE, DATA], undefined],
  ['a mount that hides another', '/img', [IMAGE, DATA.replace('/data', '/img')], undefined],
  ['the filesystem is not mounted here', '/img', ['8:2 / / ro - ext4 /dev/sda2 ro'], undefined],
])('a full btrfs is judged by its mounts: %s', (_rule, path, lines, why) => {
  expect(judged(btrfs, path, ...lines)).toBe(why);
});

test.each<[type: string, why: string | undefined]>([
  ['fuse.squashfuse', 'a read-only image (fuse.squashfuse), which is always full'],
  ['fuse.squashfuse_ll', 'a read-only image (fuse.squashfuse_ll), which is always full'],
  ['fuse.snapfuse', 'a read-only image (fuse.snapfuse), which is always full'],
  ['fuse.My Editor.AppImage', 'a read-only image (fuse.My Editor.AppImage), which is always full'],
  ['fuse.mergerfs', undefined],
  ['fuseblk', undefined],
])('a full FUSE filesystem that is mounted writable is judged by its type: %s', (type, why) => {
  expect(judged({ ...full, fsType: FUSE }, '/', `8:2 / / rw - ${type.replace(' ', '\\040')} x rw,user_id=0`)).toBe(why);
});

test('a filesystem without a size is not a disk', () => {
  expect(whyNoDisk({ ...full, fsType: FUSE, totalBytes: 0 }, '/', [])).toBe('a filesystem that does not count its space');
});
