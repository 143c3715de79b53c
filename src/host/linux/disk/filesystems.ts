import type { Observation } from '../../../core/signal/observation.js';
import { errnoText } from '../../../errors.js';
import type { FilesystemReading, Binding, FilesystemStats } from '../../../native/binding.js';
import { missingAnswer, requestAll, WatchedFilesystem } from '../../watched-filesystem.js';
import type { Missing } from '../sampling/kernel-source.js';
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
 * from cAdvisor) and free inodes. A filesystem in memory is no disk: a full tmpfs is a shortage of memory.
 */
export function filesystemObservations(path: string, reading: FilesystemReading, nowNs: bigint): FilesystemObservations {
  const missing = trouble(path, reading, nowNs);
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

function trouble(path: string, reading: FilesystemReading, nowNs: bigint): Missing | undefined {
  const silence = missingAnswer(path, reading, nowNs);
  if (silence) return silence;
  if (reading.errno !== 0) return { missing: `${path}: ${errnoText(reading.errno)}` };
  const inMemory = memoryFilesystem(reading.fsType);
  if (inMemory !== undefined) return { missing: `${path} is in memory (${inMemory}), not on a disk` };
  return undefined;
}

/** statfs's f_type of filesystems without a disk (include/uapi/linux/magic.h); devtmpfs reports tmpfs. */
const IN_MEMORY: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);

/** The name of a filesystem in memory; undefined: it is not in memory. */
export function memoryFilesystem(fsType: number): string | undefined {
  return IN_MEMORY.get(fsType);
}

/** The fields of a mount that evictd needs (man 5 proc_pid_mountinfo). */
export interface Mount {
  /** The part of the filesystem that is mounted; for cgroups seen from this process's cgroup namespace. */
  readonly root: string;
  readonly mountPoint: string;
  readonly type: string;
  /** The filesystem's: on cgroup v1 the controllers are among them. */
  readonly options: readonly string[];
}

/**
 * /proc/self/mountinfo in its order: a later mount hides an earlier one at the same place. Malformed lines are left
 * out.
 */
export function parseMountinfo(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after] = line.split(' - ');
    const [, , , root, mountPoint] = before.split(' ');
    const [type, , options] = after?.split(' ') ?? [];
    if (root === undefined || mountPoint === undefined || type === undefined || options === undefined) return [];
    return [{ root: unescape(root), mountPoint: unescape(mountPoint), type, options: options.split(',') }];
  });
}

/** The kernel writes space, tab, newline and backslash as three octal digits. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

type WatchedOne = WatchedFilesystem<FilesystemStats>;

/** A filesystem, once for all roles on it. */
export interface FilesystemOnDevice extends FilesystemObservations {
  readonly path: string;
  readonly stats: FilesystemStats;
  readonly roles: readonly FilesystemRole[];
  /** Nothing to sample. */
  readonly inMemory: boolean;
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
      const watched = known ?? new WatchedFilesystem(path, new this.#native.FilesystemStats(path), this.#onAnswer);
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

  /** By the last answers. */
  look(nowNs: bigint): FilesystemsSeen {
    const readings = new Map(this.#watched.map((watched) => [watched, watched.stats.read()]));
    const devices: (FilesystemOnDevice & { readonly device: bigint | undefined; roles: FilesystemRole[] })[] = [];
    const found: Record<FilesystemRole, bigint | undefined> = { nodefs: undefined, imagefs: undefined, containerfs: undefined };
    for (const [role, watched] of this.#roles) {
      const reading = readings.get(watched) ?? watched.stats.read();
      const device = (found[role] = deviceOf(reading));
      const same = devices.find((other) => other.path === watched.path || (device !== undefined && other.device === device));
      if (same) same.roles.push(role);
      else devices.push({ ...on(watched, reading, nowNs), device, roles: [role] });
    }
    const unread = this.#watched.find((watched) => readings.get(watched)?.atNs === 0n);
    const { layout, unsupported } = layoutOf(found);
    const isKnown = unread === undefined || this.#watched.length === 1;
    return { layout: isKnown ? layout : { error: `${unread.path}: not read yet` }, devices, unsupported };
  }

  close(): void {
    for (const watched of this.#watched) watched.close();
  }
}

function deviceOf({ atNs, errno, device }: FilesystemReading): bigint | undefined {
  return atNs === 0n || errno !== 0 ? undefined : device;
}

function on({ path, stats }: WatchedOne, reading: FilesystemReading, nowNs: bigint): Omit<FilesystemOnDevice, 'roles'> {
  const inMemory = deviceOf(reading) !== undefined && memoryFilesystem(reading.fsType) !== undefined;
  return { path, stats, inMemory, ...filesystemObservations(path, reading, nowNs) };
}

const STOCKS = {
  available: { unit: 'disk', field: 'availableBytes', text: 'available bytes' },
  inodesFree: { unit: 'inodes', field: 'inodesFree', text: 'free inodes' },
} as const;

/** Bytes and inodes of each device for the sampler, however many signals are about them. */
export function filesystemResources(devices: readonly FilesystemOnDevice[]): SampledResource[] {
  return devices.flatMap((device) => (device.inMemory ? [] : [resourceOf(device, 'available'), resourceOf(device, 'inodesFree')]));
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
