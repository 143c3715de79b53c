/**
 * The contract of the native addon on Windows, with the rules of ./binding.d.ts.
 *
 * `code` of an error is the system's name ('ERROR_INVALID_PARAMETER'), `errno` its number, negative (−87). An `errno`
 * in a result is positive, or 0.
 */
import type { FileLockConstructor } from './acting.js';
import type { OnWake, WakeBits, Watch } from './watch.js';

export interface WindowsBinding {
  readonly WAKE: WakeBits;
  /**
   * GetPerformanceInfo. Amounts in pages of `pageSize` bytes. Throws the system's error.
   *
   * @param size for tests: the size of the structure (ERROR_BAD_LENGTH)
   */
  performanceInfo(size?: number): PerformanceInfo;
  readonly MemoryNotification: MemoryNotificationConstructor;
  readonly FilesystemStats: FilesystemStatsConstructor;
  /**
   * Enables SeDebugPrivilege in this process's token, with which processes of all users can be opened and ended;
   * administrators have it disabled. false: the token lacks it (ERROR_NOT_ALL_ASSIGNED). Throws other errors.
   */
  enableDebugPrivilege(): boolean;
  /** All processes in one pass, in no order. Processes that end meanwhile are left out. */
  processes(): ProcessEntry[];
  readonly ProcessHandle: ProcessHandleConstructor;
  readonly Job: JobConstructor;
  /**
   * All services of this machine that run as processes (EnumServicesStatusEx, SERVICE_WIN32). Throws the system's
   * error.
   */
  services(): ServiceEntry[];
  /**
   * ControlService(SERVICE_CONTROL_STOP). Returns when the service has the request, or after half a second; throws
   * ERROR_SERVICE_DOES_NOT_EXIST, ERROR_SERVICE_NOT_ACTIVE, ERROR_INVALID_SERVICE_CONTROL.
   */
  stopService(name: string): void;
  readonly ServiceDispatcher: ServiceDispatcherConstructor;
  /**
   * LockFileEx, exclusive and without waiting, on a file that is created if missing. Throws ERROR_LOCK_VIOLATION where
   * another process holds it.
   */
  readonly FileLock: FileLockConstructor;
  /** The time since boot, with the time that the system slept (GetTickCount64: in steps of about 16 ms). */
  bootTimeNs(): bigint;
  /** TerminateProcess on this process: for a shutdown that must not wait for a thread that hangs. */
  exitNow(code: number): never;
  /** For tests: live watches of this environment. */
  watchCount(): number;
}

/** Fields of PERFORMANCE_INFORMATION. All but `pageSize` (bytes) are pages. */
export interface PerformanceInfo {
  readonly commitTotal: bigint;
  readonly commitLimit: bigint;
  readonly physicalTotal: bigint;
  readonly physicalAvailable: bigint;
  readonly pageSize: bigint;
}

/**
 * CreateMemoryResourceNotification. The object stays signalled while memory is low (or high), so it fires at the
 * beginning only: after FIRED it is polled until it is clear.
 */
export interface MemoryNotificationConstructor {
  new (kind: 'low' | 'high', onWake: OnWake): MemoryNotification;
}
export interface MemoryNotification extends Watch {
  /** Whether memory is low (high) now (QueryMemoryResourceNotification). false after `close()`. */
  isSet(): boolean;
}

/** GetDiskFreeSpaceEx on a helper thread, because a share may hang; as statfs in ./reading.d.ts. */
export interface FilesystemStats {
  /** `errno`: ERROR_PATH_NOT_FOUND (3), … `atNs`: 0n: none yet. Windows has no inodes. */
  read(): FilesystemReading;
  /** As in ./reading.d.ts. */
  request(onDone?: () => void): boolean;
  close(): void;
}
export interface FilesystemReading {
  readonly totalBytes: bigint;
  readonly freeBytes: bigint;
  /** The bytes for the calling user, whose quota may be smaller than the disk. */
  readonly availableBytes: bigint;
  readonly errno: number;
  readonly atNs: bigint;
  readonly pending: boolean;
  readonly pendingSinceNs: bigint;
}
export interface FilesystemStatsConstructor {
  new (path: string): FilesystemStats;
}

export interface ProcessEntry {
  readonly pid: number;
  /** May have ended, and its number be reused: compare `createdAt`. */
  readonly parentPid: number;
  /** File name of its program. */
  readonly name: string;
  /** 100 ns since 1601, UTC: with `pid` it identifies a process for ever. */
  readonly createdAt: bigint;
  /**
   * Why the process refused what follows; then the fields are 0 or empty (ERROR_ACCESS_DENIED for some of the
   * system's).
   */
  readonly errno: number;
  /** Complete: C:\… */
  readonly path: string;
  readonly workingSetBytes: bigint;
  /** Committed memory (PrivateUsage). */
  readonly privateBytes: bigint;
  /** User and kernel. */
  readonly cpuTimeNs: bigint;
  /** The system fails with it (IsProcessCritical). */
  readonly critical: boolean;
}

/** A process held by its handle, so that a later process with its number is never meant. */
export interface ProcessHandle extends Watch {
  /** TerminateProcess. Returns at once; FIRED follows at the end. No failure where it has ended. */
  terminate(exitCode: number): void;
  /** undefined: it runs. */
  exitCode(): number | undefined;
}
export interface ProcessHandleConstructor {
  /**
   * `createdAt`: as in `processes()`; a process of another time counts as missing. `onWake`: FIRED and GONE once, at
   * its end. Throws ERROR_INVALID_PARAMETER (87): no such process; ERROR_ACCESS_DENIED.
   */
  new (pid: number, createdAt: bigint, onWake: OnWake): ProcessHandle;
}

/** A job object, held by its handle. */
export interface Job {
  /** The pids of this job and the jobs nested in it. */
  processes(): number[];
  /** The bytes that its processes may commit together; 0n: no limit. */
  commitLimit(): bigint;
  setCommitLimit(bytes: bigint): void;
  assign(process: ProcessHandle): void;
  /** TerminateJobObject: with the nested jobs. */
  terminate(exitCode: number): void;
  close(): void;
}
export interface JobConstructor {
  /** Opens the job of that name; throws ERROR_FILE_NOT_FOUND. `create`: creates it; throws ERROR_ALREADY_EXISTS. */
  new (name: string, create?: boolean): Job;
}

export interface ServiceEntry {
  readonly name: string;
  readonly state: 'stopped' | 'start-pending' | 'stop-pending' | 'running' | 'continue-pending' | 'pause-pending' | 'paused';
  /** 0: none. */
  readonly pid: number;
  /** Alone in its process; svchost.exe mostly has several. */
  readonly ownProcess: boolean;
  readonly acceptsStop: boolean;
}

/**
 * This process as a service: StartServiceCtrlDispatcher on a thread of its own, until the service is reported as
 * stopped.
 */
export interface ServiceDispatcher {
  /**
   * ERROR_FAILED_SERVICE_CONTROLLER_CONNECT (1063): no service manager has started this process. 0: it runs, or is
   * about to.
   */
  errno(): number;
  /** SetServiceStatus. `stopped` ends the thread. */
  report(
    state: 'start-pending' | 'running' | 'stop-pending' | 'stopped',
    options?: { readonly waitHintMs?: number; readonly exitCode?: number },
  ): void;
  /** Does not wait. A service that was not reported as stopped is stopped by the end of its process. */
  close(): void;
}
export interface ServiceDispatcherConstructor {
  /**
   * 'start' once, when the manager has called; 'stop' and 'shutdown' on its request; 'failed' where the dispatcher
   * cannot run (`errno()`).
   */
  new (name: string, onControl: (control: 'start' | 'stop' | 'shutdown' | 'failed') => void): ServiceDispatcher;
}
