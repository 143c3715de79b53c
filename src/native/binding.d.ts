/**
 * The contract of the native addon. It waits, reads and signals; it knows no policy.
 *
 * Every class owns its descriptors; `close()` may be called twice and inside a callback; the end of the environment
 * closes what is open. Errors are Node-like: `code` ('ENOENT'), `errno` (negative, as libuv's), `syscall`, `path`. A
 * wrong kind of argument is a TypeError ('ERR_INVALID_ARG_TYPE'), one out of range a RangeError ('ERR_OUT_OF_RANGE');
 * use after `close()` is EBADF. Times are CLOCK_MONOTONIC nanoseconds, comparable with `process.hrtime.bigint()`.
 */
import type {
  CgroupHandleConstructor,
  ChildProgramConstructor,
  FileLockConstructor,
  FileStatusesConstructor,
  MemoryReaperConstructor,
  NotifySocketConstructor,
  PidfdConstructor,
  StandingOrderConstructor,
} from './acting.js';
import type {
  CgroupTableConstructor,
  DeletedFilesConstructor,
  DirectoryUsageConstructor,
  FileReaderConstructor,
  FilesystemStatsConstructor,
  FilesystemTreeConstructor,
} from './reading.js';
import type {
  CgroupTreeConstructor,
  EventsBits,
  KernelLogConstructor,
  MemcgEventsConstructor,
  MemcgThresholdConstructor,
  OomBits,
  OomControlConstructor,
  OomRecord,
  ProcessExitConstructor,
  PsiTriggerConstructor,
  SamplerBits,
  SamplerConstructor,
  ThresholdBits,
  WakeBits,
} from './watch.js';

export type * from './acting.js';
export type * from './reading.js';
export type * from './watch.js';

export interface Binding {
  readonly WAKE: WakeBits;
  readonly SAMPLER: SamplerBits;
  readonly THRESHOLD: ThresholdBits;
  readonly EVENTS: EventsBits;
  readonly OOM: OomBits;
  readonly MemcgThreshold: MemcgThresholdConstructor;
  readonly PsiTrigger: PsiTriggerConstructor;
  readonly MemcgEvents: MemcgEventsConstructor;
  readonly OomControl: OomControlConstructor;
  readonly Sampler: SamplerConstructor;
  readonly CgroupTree: CgroupTreeConstructor;
  readonly ProcessExit: ProcessExitConstructor;
  readonly KernelLog: KernelLogConstructor;
  readonly FileReader: FileReaderConstructor;
  readonly CgroupTable: CgroupTableConstructor;
  readonly FilesystemStats: FilesystemStatsConstructor;
  readonly DeletedFiles: DeletedFilesConstructor;
  readonly DirectoryUsage: DirectoryUsageConstructor;
  readonly FilesystemTree: FilesystemTreeConstructor;
  readonly CgroupHandle: CgroupHandleConstructor;
  readonly Pidfd: PidfdConstructor;
  readonly MemoryReaper: MemoryReaperConstructor;
  readonly ChildProgram: ChildProgramConstructor;
  readonly FileStatuses: FileStatusesConstructor;
  readonly StandingOrder: StandingOrderConstructor;
  readonly NotifySocket: NotifySocketConstructor;
  readonly FileLock: FileLockConstructor;
  /**
   * fallocate(2) with FALLOC_FL_KEEP_SIZE on libuv's pool. Rejects with ENOSPC, or EOPNOTSUPP where the filesystem
   * cannot. `fd` must stay open meanwhile.
   */
  fallocate(fd: number, offset: number, length: number): Promise<void>;
  /** An extended attribute; undefined: the file has none of that name, or the filesystem has none. */
  getxattr(path: string, name: string): Buffer | undefined;
  /** Sets an extended attribute. Throws as getxattr does, also ENOTSUP where the filesystem has none of that kind. */
  setxattr(path: string, name: string, value: string): void;
  /** SO_PEERCRED of a connected Unix socket. `pid` 0: in another pid namespace. Throws EBADF, ENOTSOCK. */
  peerCredentials(fd: number): { pid: number; uid: number; gid: number };
  /** CLOCK_BOOTTIME: includes the time that the machine slept. */
  bootTimeNs(): bigint;
  /**
   * Keeps this process's machine code in memory: mlock2(MLOCK_ONFAULT) on the executable segments of the addon, Node
   * and the libraries, not of V8's own code. Reads nothing in, and gives back what only the start has used, so call it after
   * that. `bytes`: locked mappings. `errno` (positive): the first refusal, else 0; ENOMEM or EPERM is RLIMIT_MEMLOCK
   * without CAP_IPC_LOCK.
   */
  lockText(): { bytes: number; errno: number };
  /**
   * Gives the thread that waits for all watches the lowest real-time priority (SCHED_FIFO, 1; sched(7)), and starts it
   * if it does not run yet. Returns 0 or errno (positive): EPERM without CAP_SYS_NICE or RLIMIT_RTPRIO. Throws EAGAIN
   * at the limit of processes.
   */
  setWaiterRealtime(): number;
  /**
   * What one thread fills with fresh 4 KiB pages in a second, in bytes: the best of several attempts, which take 4 MiB
   * for about 20 ms at most.
   */
  measureFill(): number;
  /** _exit(2): for a shutdown that must not wait for a thread that hangs in a dead filesystem. */
  exitNow(code: number): never;
  /** For tests: the kills in these records of /dev/kmsg. */
  parseOomRecords(records: readonly string[]): OomRecord[];
  /** For tests: live watches of this environment. */
  watchCount(): number;
}
