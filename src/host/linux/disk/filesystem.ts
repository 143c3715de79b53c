import type { Observation } from '../../../core/signal/observation.js';
import { errnoText } from '../../../errors.js';
import type { FilesystemReading } from '../../../native/binding.js';
import { missingAnswer } from '../../filesystem-timeout.js';
import type { Missing } from '../sampling/kernel-source.js';

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
