import type { Observation } from '../../core/observation.js';
import { errnoText } from '../../errors.js';
import type { FilesystemReading } from '../../native/binding.js';
import { silenceOf } from '../filesystem-silence.js';
import type { Missing } from './kernel-source.js';

export interface FilesystemObservations {
  readonly available: Observation | Missing;
  readonly inodesFree: Observation | Missing;
}

/**
 * What a filesystem has left from the last answer of statfs: the bytes that an ordinary process may still take (f_bavail: without the
 * reserve for root) of all, as the kubelet has them from cAdvisor, and the free inodes of all. Memory is no disk: a full tmpfs is short of memory.
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
      reading.inodes === 0 // btrfs makes them as it needs them
        ? { missing: `the filesystem of ${path} does not count inodes`, absent: true }
        : observe(reading.inodesFree, reading.inodes),
  };
}

function trouble(path: string, reading: FilesystemReading, nowNs: bigint): Missing | undefined {
  const silence = silenceOf(path, reading, nowNs);
  if (silence) return silence;
  if (reading.errno !== 0) return { missing: `${path}: ${errnoText(reading.errno)}` };
  const inMemory = memoryFilesystem(reading.fsType);
  if (inMemory !== undefined) return { missing: `${path} lies in memory (${inMemory}), which is no disk` };
  return undefined;
}

/** statfs's f_type of those that have no disk (include/uapi/linux/magic.h); devtmpfs says tmpfs, too. */
const IN_MEMORY: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);

/** The name of a filesystem in memory; undefined: it is another one. */
export function memoryFilesystem(fsType: number): string | undefined {
  return IN_MEMORY.get(fsType);
}
