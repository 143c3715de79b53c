import { win32 } from 'node:path';
import type { Observation } from '../../core/signal/observation.js';
import type { FilesystemReading } from '../../native/windows-binding.js';
import { missingAnswer } from '../filesystem-timeout.js';
import type { Missing } from '../missing-reading.js';
import { systemErrorText } from '../../native/system-error.js';

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
