import type { Observation } from '../../../core/signal/observation.js';
import { errnoText } from '../../../errors.js';
import type { FilesystemReading, Binding, FilesystemStats } from '../../../native/binding.js';
import { missingAnswer, requestAll, WatchedFilesystem } from '../../watched-filesystem.js';
import type { Missing } from '../sampling/kernel-source.js';
import { DiskMounts } from './disk-mounts.js';
import { whyNoDisk } from './no-disk.js';
import {
  FILESYSTEM_ROLES,
  layoutOf,
  pathsByRole,
  type FilesystemPaths,
  type FilesystemRole,
  type Layout,
} from '../../../core/signal/layout.js';
import type { Signal } from '../../../core/signal/signal.js';
import type { SampledResource } from '../sampling/signal-sampler.js';

export interface FilesystemObservations {
  readonly available: Observation | Missing;
  readonly inodesFree: Observation | Missing;
}

/**
 * What a filesystem has left by the last statfs: bytes for unprivileged processes (f_bavail, as the kubelet has them
 * from cAdvisor) and free inodes.
 *
 * @param noDisk  what it is if no disk can run short there, from {@link whyNoDisk}
 */
export function filesystemObservations(
  { path, role, noDisk }: { readonly path: string; readonly role: FilesystemRole; readonly noDisk: string | undefined },
  reading: FilesystemReading,
  nowNs: bigint,
): FilesystemObservations {
  const silence = missingAnswer(path, reading, nowNs);
  const refused = reading.errno === 0 ? undefined : { missing: `${path}: ${errnoText(reading.errno)}` };
  const hint = `set filesystems.${role} to a directory on a disk`;
  const missing = silence ?? refused ?? (noDisk === undefined ? undefined : { missing: `${path} is ${noDisk}: ${hint}` });
  if (missing) return { available: missing, inodesFree: missing };
  const observe = (available: number, capacity: number): Observation => {
    return { available: BigInt(available), capacity: BigInt(capacity), timeNs: reading.atNs, source: `statfs of ${path}` };
  };
  return {
    available: observe(reading.availableBytes, reading.totalBytes),
    inodesFree:
      reading.inodes === 0 // btrfs creates inodes as needed
        ? { missing: `the filesystem of ${path} does not count inodes`, absent: true }
        : observe(reading.inodesFree, reading.inodes),
  };
}

type WatchedOne = WatchedFilesystem<FilesystemStats>;

/** A filesystem, once for all roles on it. */
export interface FilesystemOnDevice extends FilesystemObservations {
  readonly path: string;
  readonly stats: FilesystemStats;
  readonly roles: readonly FilesystemRole[];
  /** Nothing to sample, because no disk can run short there. */
  readonly isNoDisk: boolean;
}

export interface FilesystemsSeen {
  /** Or the path that has not answered yet. */
  readonly layout: Layout | { readonly error: string };
  readonly devices: readonly FilesystemOnDevice[];
  /** Why containerfs.* have no meaning here. */
  readonly unsupported: string | undefined;
}

/**
 * The filesystems of a node's signals. Each path is asked by itself, so that one that hangs delays no other; each
 * device is read once.
 */
export class Filesystems {
  readonly #native: Binding;
  readonly #onAnswer: () => void;
  readonly #mounts = new DiskMounts();
  #watched: readonly WatchedOne[] = [];
  #roles: readonly (readonly [FilesystemRole, WatchedOne])[] = [];

  /** @param onAnswer  called at every answer, before the callback of the request */
  constructor(native: Binding, configured: FilesystemPaths, onAnswer: () => void) {
    this.#native = native;
    this.#onAnswer = onAnswer;
    this.place(configured);
  }

  /**
   * Changes the paths; unchanged ones keep their last answers. Returns the unused ones, which the caller closes after
   * their samplers.
   */
  place(filesystems: FilesystemPaths): readonly WatchedOne[] {
    const before = this.#watched;
    const byPath = new Map<string, WatchedOne>();
    const paths = pathsByRole(filesystems);
    this.#roles = FILESYSTEM_ROLES.map((role) => {
      const path = paths[role];
      const known = byPath.get(path) ?? before.find((watched) => watched.path === path);
      const watched =
        known ??
        new WatchedFilesystem(path, new this.#native.FilesystemStats(path), () => {
          this.#answered();
        });
      byPath.set(path, watched);
      return [role, watched] as const;
    });
    this.#watched = [...byPath.values()];
    return before.filter((watched) => !this.#watched.includes(watched));
  }

  /** @param onAnswer  at each answer, with the number still awaited */
  request(onAnswer?: (outstanding: number) => void): void {
    requestAll(() => this.#watched, onAnswer);
  }

  /** The filesystems as of the last answers. */
  look(nowNs: bigint): FilesystemsSeen {
    const readings = new Map(this.#watched.map((watched) => [watched, watched.stats.read()]));
    const devices: (FilesystemOnDevice & { readonly device: bigint | undefined; roles: FilesystemRole[] })[] = [];
    const found: Record<FilesystemRole, bigint | undefined> = { nodefs: undefined, imagefs: undefined, containerfs: undefined };
    for (const [role, watched] of this.#roles) {
      const reading = readings.get(watched) ?? watched.stats.read();
      const device = (found[role] = deviceOf(reading));
      const same = devices.find((other) => other.path === watched.path || (device !== undefined && other.device === device));
      if (same) same.roles.push(role);
      else devices.push({ ...this.#on(watched, role, reading, nowNs), device, roles: [role] });
    }
    const unread = this.#watched.find((watched) => readings.get(watched)?.atNs === 0n);
    const { layout, unsupported } = layoutOf(found);
    const isKnown = unread === undefined || this.#watched.length === 1;
    return { layout: isKnown ? layout : { error: `${unread.path}: not read yet` }, devices, unsupported };
  }

  close(): void {
    for (const watched of this.#watched) watched.close();
  }

  /** Runs before the callback of the request: the pass that this wakes knows the mounts of a new filesystem. */
  #answered(): void {
    const readings = this.#watched.map(({ stats }) => stats.read());
    this.#mounts.follow(readings, process.hrtime.bigint());
    this.#onAnswer();
  }

  #on({ path, stats }: WatchedOne, role: FilesystemRole, reading: FilesystemReading, nowNs: bigint): Omit<FilesystemOnDevice, 'roles'> {
    const noDisk = deviceOf(reading) === undefined ? undefined : whyNoDisk(reading, path, this.#mounts.known);
    return { path, stats, isNoDisk: noDisk !== undefined, ...filesystemObservations({ path, role, noDisk }, reading, nowNs) };
  }
}

function deviceOf({ atNs, errno, device }: FilesystemReading): bigint | undefined {
  return atNs === 0n || errno !== 0 ? undefined : device;
}

const STOCKS = {
  available: { unit: 'disk', field: 'availableBytes', text: 'available bytes' },
  inodesFree: { unit: 'inodes', field: 'inodesFree', text: 'free inodes' },
} as const;

/** Bytes and inodes of each device for the sampler, however many signals are about them. */
export function filesystemResources(devices: readonly FilesystemOnDevice[]): SampledResource[] {
  return devices.flatMap((device) => (device.isNoDisk ? [] : [resourceOf(device, 'available'), resourceOf(device, 'inodesFree')]));
}

function resourceOf(device: FilesystemOnDevice, stock: keyof typeof STOCKS): SampledResource {
  const { unit, field, text } = STOCKS[stock];
  const observation = device[stock];
  return {
    signals: device.roles.map((role) => signalOf(role, stock)),
    name: `${text} of ${device.path}`,
    counts: 'free',
    value: { filesystem: device.stats, field },
    unit,
    amount: 'missing' in observation ? undefined : observation,
  };
}

export function signalOf(role: FilesystemRole, stock: keyof typeof STOCKS): Signal {
  return `${role}.${stock}`;
}
