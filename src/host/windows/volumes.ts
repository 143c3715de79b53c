import { win32 } from 'node:path';
import type { Observation } from '../../core/signal/observation.js';
import type { FilesystemReading, FilesystemStats, WindowsBinding } from '../../native/windows-binding.js';
import { missingAnswer, requestAll, WatchedFilesystem } from '../watched-filesystem.js';
import type { Missing } from '../missing-reading.js';
import { systemErrorText } from '../../native/system-error.js';
import {
  FILESYSTEM_ROLES,
  layoutOf,
  pathsByRole,
  type FilesystemPaths,
  type FilesystemRole,
  type Layout,
} from '../../core/signal/layout.js';

/**
 * What a volume has left by the last answer: bytes for the caller, as in the kubelet (pkg/volume/util/fs,
 * fs_windows.go).
 */
export function filesystemAvailable(path: string, reading: FilesystemReading, nowNs: bigint): Observation | Missing {
  const silence = missingAnswer(path, reading, nowNs);
  if (silence) return silence;
  if (reading.errno !== 0) return { missing: `${path}: ${systemErrorText(reading.errno)}` };
  return { available: reading.availableBytes, capacity: reading.totalBytes, timeNs: reading.atNs, source: `GetDiskFreeSpaceEx of ${path}` };
}

/**
 * Equal for paths on one volume: drive or share, and size. A volume mounted in a folder of another has that drive's
 * letter, but hardly its size to the byte. undefined: no answer, or an error.
 */
export function volumeOf(path: string, { atNs, errno, totalBytes }: FilesystemReading): string | undefined {
  if (atNs === 0n || errno !== 0) return undefined;
  return `${win32.parse(win32.normalize(path)).root.toLowerCase()} ${String(totalBytes)}`;
}

export interface VolumesSeen {
  /** Or the path that has not answered yet. */
  readonly layout: Layout | { readonly error: string };
  readonly available: Readonly<Record<FilesystemRole, Observation | Missing>>;
  /** Why containerfs.* have no meaning here. */
  readonly unsupported: string | undefined;
}

/** The volumes of a node's signals. Each path is asked by itself, so that a share that hangs delays no other. */
export class WindowsFilesystems {
  readonly #native: WindowsBinding;
  #watched: readonly WatchedFilesystem<FilesystemStats>[] = [];
  #paths: Readonly<Record<FilesystemRole, string>>;

  constructor(native: WindowsBinding, configured: FilesystemPaths) {
    this.#native = native;
    this.#paths = pathsByRole(configured);
    this.place(configured);
  }

  /** Changes the paths; unchanged ones keep their last answers. */
  place(filesystems: FilesystemPaths): void {
    const before = this.#watched;
    this.#paths = pathsByRole(filesystems);
    const wanted = [...new Set(FILESYSTEM_ROLES.map((role) => this.#paths[role]))];
    this.#watched = wanted.map((path) => {
      const known = before.find((watched) => watched.path === path);
      return known ?? new WatchedFilesystem(path, new this.#native.FilesystemStats(path), () => undefined);
    });
    for (const watched of before) if (!this.#watched.includes(watched)) watched.close();
  }

  /** @param onAnswer  at each answer, with the number still awaited */
  request(onAnswer?: (outstanding: number) => void): void {
    requestAll(() => this.#watched, onAnswer);
  }

  /** The volumes as of the last answers. */
  look(nowNs: bigint): VolumesSeen {
    const readings = new Map(this.#watched.map(({ path, stats }) => [path, stats.read()]));
    const known: string[] = [];
    const each = <T>(of: (path: string) => T): Record<FilesystemRole, T> => {
      return { nodefs: of(this.#paths.nodefs), imagefs: of(this.#paths.imagefs), containerfs: of(this.#paths.containerfs) };
    };
    const volume = (path: string): bigint | undefined => {
      const reading = readings.get(path);
      const name = reading && volumeOf(path, reading);
      if (name === undefined) return undefined;
      if (!known.includes(name)) known.push(name);
      return BigInt(known.indexOf(name));
    };
    const available = each((path): Observation | Missing => {
      const reading = readings.get(path);
      return reading === undefined ? { missing: `${path}: not read yet` } : filesystemAvailable(path, reading, nowNs);
    });
    const { layout, unsupported } = layoutOf(each(volume));
    const unread = readings.size === 1 ? undefined : [...readings].find(([, { atNs }]) => atNs === 0n);
    return { layout: unread === undefined ? layout : { error: `${unread[0]}: not read yet` }, available, unsupported };
  }

  close(): void {
    for (const watched of this.#watched) watched.close();
  }
}
