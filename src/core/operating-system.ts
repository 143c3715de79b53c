import { isPressure, type Signal } from './signal.js';

/** What evictd runs on: chosen once, and then a value. */
export type OperatingSystem = 'linux' | 'windows';

/** Where a configuration holds, as far as its defaults and what it may say depend on it. */
export type Platform =
  | { readonly os: 'linux' }
  /** `programData`: the directory of the machine's own data, 'C:\\ProgramData'. */
  | { readonly os: 'windows'; readonly programData: string };

/** Why an operating system has no such signal; undefined: it has it. */
export function signalAbsence(signal: Signal, os: OperatingSystem): string | undefined {
  if (os === 'linux') return undefined;
  if (isPressure(signal)) return 'Windows does not measure how long tasks wait (pressure)';
  switch (signal) {
    case 'nodefs.inodesFree':
    case 'imagefs.inodesFree':
    case 'containerfs.inodesFree':
      return 'Windows counts no inodes: NTFS and ReFS make file records as they need them';
    case 'pid.available':
      return 'Windows has no limit of process ids: memory is what a process too many wants';
    case 'swap.available':
      return 'the page files count in the commit limit: memory.available has them';
    case 'allocatableMemory.available':
      return 'Windows has no cgroup that all workloads live in';
    case 'memory.available':
    case 'memory.kernelAvailable':
    case 'nodefs.available':
    case 'imagefs.available':
    case 'containerfs.available':
      return undefined;
  }
}
