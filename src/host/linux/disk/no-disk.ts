import type { FilesystemReading } from '../../../native/binding.js';
import { deviceText, type Mount } from './mountinfo.js';

/** statfs's f_type (include/uapi/linux/magic.h); devtmpfs reports tmpfs. */
const IN_MEMORY: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x958458f6, 'hugetlbfs'],
]);
/** Images: written once as a whole, so without free space. */
const IMAGES: ReadonlyMap<number, string> = new Map([
  [0x73717368, 'squashfs'],
  [0xe0f5e1e2, 'erofs'],
  [0x9660, 'iso9660'],
  [0x28cd3d45, 'cramfs'],
  [0x7275, 'romfs'],
]);
/** Images by FUSE (squashfuse; snapd in containers; an AppImage), which need not be mounted read-only. */
const FUSE_IMAGE = /^fuse\.(?:squashfuse(?:_ll)?|snapfuse|erofsfuse|fuseiso|dwarfs|.*\.AppImage)$/;
const OVERLAY = 0x794c7630;
const BTRFS = 0x9123683e;

export type Statfs = Pick<FilesystemReading, 'fsType' | 'device' | 'totalBytes' | 'inodes'>;

/** Whether only the mounts tell if it is a disk: the type does not. */
export function needsMounts({ fsType, totalBytes }: Pick<Statfs, 'fsType' | 'totalBytes'>): boolean {
  return totalBytes > 0 && !IN_MEMORY.has(fsType) && !IMAGES.has(fsType);
}

/**
 * Whether {@link whyNoDisk} may need a line of mountinfo for one of these filesystems. Of thousands of lines the others
 * need not be parsed; an overlay may need any, because of the layer that it writes to.
 */
export function linesAbout(filesystems: readonly Statfs[]): (line: string) => boolean {
  if (filesystems.some(({ fsType }) => fsType === OVERLAY)) return () => true;
  const parts = filesystems.map(({ device, fsType }) => (fsType === BTRFS ? ' - btrfs ' : ` ${deviceText(device)} `));
  return (line) => parts.some((part) => line.includes(part));
}

/**
 * What a filesystem is if no disk can run short there; undefined: it is a disk. A full tmpfs is a shortage of memory, and
 * what cannot be written stays as full as it is: no eviction helps either, whatever amount or share a threshold requires.
 *
 * @param path  where statfs was asked
 * @param mounts  at least those of {@link linesAbout}; may be none, if {@link needsMounts} says no
 */
export function whyNoDisk(statfs: Statfs, path: string, mounts: readonly Mount[]): string | undefined {
  const memory = IN_MEMORY.get(statfs.fsType);
  if (memory !== undefined) return `in memory (${memory}), not on a disk`;
  const image = IMAGES.get(statfs.fsType);
  if (image !== undefined) return `a read-only image (${image}), which is always full`;
  if (statfs.totalBytes === 0) return 'a filesystem that does not count its space';
  const mount = mounts.findLast(({ device }) => device === statfs.device) ?? (statfs.fsType === BTRFS ? btrfsAt(path, mounts) : undefined);
  const upper = statfs.fsType === OVERLAY ? upperInMemory(statfs, mount, mounts) : undefined;
  if (upper !== undefined) return `in memory (overlay on ${upper}), not on a disk`;
  if (mount !== undefined && FUSE_IMAGE.test(mount.type)) return `a read-only image (${mount.type}), which is always full`;
  // The filesystem's own option: a mount may be read-only for this process alone (ProtectSystem=).
  return mount?.options.includes('ro') ? `read-only (${mount.type}): it cannot fill up` : undefined;
}

/**
 * A subvolume of btrfs has a device number that no mount has. Elsewhere than at a mount point a link may lead to any of
 * them: one that is writable, if there is one.
 */
function btrfsAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  const all = mounts.filter(({ type }) => type === 'btrfs');
  return all.findLast(({ mountPoint }) => mountPoint === path) ?? all.find(({ options }) => !options.includes('ro')) ?? all[0];
}

/** The type of the layer that an overlay writes to, if that is in memory. statfs passes through to that layer. */
function upperInMemory({ totalBytes, inodes }: Statfs, overlay: Mount | undefined, mounts: readonly Mount[]): string | undefined {
  // A tmpfs has as many inodes as pages by default (mm/shmem.c). The layer may be hidden, as in the live system of Ubuntu.
  if (PAGES.some((bytes) => inodes > 0 && inodes * bytes === totalBytes)) return 'tmpfs';
  const directory = overlay?.options.find((option) => option.startsWith('upperdir='))?.slice('upperdir='.length);
  if (directory === undefined) return undefined;
  // The overlay's own escapes, of comma, colon and backslash (fs/overlayfs/params.c, ovl_unescape).
  const names = [directory, directory.replace(/\\(.)/g, '$1')];
  const above = mounts.filter(({ mountPoint }) => names.some((name) => `${name}/`.startsWith(mountPoint === '/' ? '/' : `${mountPoint}/`)));
  const layer = above.reduce<Mount | undefined>((a, b) => (a && a.mountPoint.length > b.mountPoint.length ? a : b), undefined);
  if (layer === undefined || ![...IN_MEMORY.values()].includes(layer.type)) return undefined;
  // In a container the path may mean another directory.
  const size = layer.options.find((option) => /^size=\d+k$/.test(option))?.slice('size='.length, -1);
  return size === undefined || Number(size) * 1024 === totalBytes ? layer.type : undefined;
}

const PAGES: readonly number[] = [4096, 16_384, 65_536];
