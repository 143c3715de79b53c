import type { Observation } from '../../core/observation.js';
import { errnoText } from '../../errors.js';
import type { FilesystemReading } from '../../native/binding.js';
import { memoryFilesystem } from './filesystem-type.js';
import type { Missing } from './kernel-source.js';

export interface FilesystemObservations {
  readonly available: Observation | Missing;
  readonly inodesFree: Observation | Missing;
}

/**
 * How long statfs may take before what it said last no longer counts. A local disk answers in microseconds, a busy network filesystem within seconds;
 * the kubelet's own figures are at most 10 s old.
 */
const NO_ANSWER_NS = 10_000_000_000n;

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
  const silentNs = reading.pending ? nowNs - reading.pendingSinceNs : 0n;
  if (silentNs >= NO_ANSWER_NS) return { missing: `no answer from the filesystem of ${path} for ${String(silentNs / 1_000_000_000n)} s` };
  if (reading.atNs === 0n) return { missing: `${path}: not read yet` };
  if (reading.errno !== 0) return { missing: `${path}: ${errnoText(reading.errno)}` };
  const inMemory = memoryFilesystem(reading.fsType);
  if (inMemory !== undefined) return { missing: `${path} lies in memory (${inMemory}), which is no disk` };
  return undefined;
}
