/**
 * The contract of the native addon on Windows: the same rules as ./binding.d.ts.
 *
 * Errors are Node-like, too: `code` is the system's name of it ('ERROR_INVALID_PARAMETER'), `errno` its number, negative (−87), `syscall`, `path`.
 * Where an `errno` is a field of a result it is positive, and 0 where all is well.
 */
import type { FileLockConstructor } from './acting.js';
import type { OnWake, WakeBits, Watch } from './watch.js';

export interface WindowsBinding {
  readonly WAKE: WakeBits;
  /**
   * GetPerformanceInfo: what the system has promised and has, in pages of `pageSize` bytes. Throws what it refuses with.
   *
   * @param size  for tests: the size of the structure that it is told (ERROR_BAD_LENGTH)
   */
  performanceInfo(size?: number): PerformanceInfo;
  readonly MemoryNotification: MemoryNotificationConstructor;
  readonly FilesystemStats: FilesystemStatsConstructor;
  /**
   * Enables SeDebugPrivilege in the token of this process, of which administrators have it disabled: with it processes are opened, and ended, whoever's they are. false: the token
   * has no such privilege (ERROR_NOT_ALL_ASSIGNED). Throws what else it is refused with.
   */
  enableDebugPrivilege(): boolean;
  /** All processes as one pass finds them, in no order. Who ends meanwhile is left out. */
  processes(): ProcessEntry[];
  readonly ProcessHandle: ProcessHandleConstructor;
  readonly Job: JobConstructor;
  /** All services of the own process's machine that run as processes (EnumServicesStatusEx, SERVICE_WIN32). Throws what it refuses with. */
  services(): ServiceEntry[];
  /** ControlService(SERVICE_CONTROL_STOP). Returns when it was told, or after half a second in which nobody has answered; throws ERROR_SERVICE_DOES_NOT_EXIST, ERROR_SERVICE_NOT_ACTIVE, ERROR_INVALID_SERVICE_CONTROL. */
  stopService(name: string): void;
  readonly ServiceDispatcher: ServiceDispatcherConstructor;
  /** LockFileEx, exclusive and at once, on a file that is made where it is missing. Throws ERROR_LOCK_VIOLATION where another holds it. */
  readonly FileLock: FileLockConstructor;
  /** Since the system was started, with the time that it slept (GetTickCount64: in steps of some 16 ms). */
  bootTimeNs(): bigint;
  /** Ends this process at once (TerminateProcess): for a shutdown that must not wait for a thread that hangs. */
  exitNow(code: number): never;
  /** For tests: live watches of this environment. */
  watchCount(): number;
}

/** PERFORMANCE_INFORMATION, whole. All but the counts and `pageSize` (bytes) are pages. */
export interface PerformanceInfo {
  readonly commitTotal: bigint;
  readonly commitLimit: bigint;
  readonly commitPeak: bigint;
  readonly physicalTotal: bigint;
  readonly physicalAvailable: bigint;
  readonly systemCache: bigint;
  readonly kernelTotal: bigint;
  readonly kernelPaged: bigint;
  readonly kernelNonpaged: bigint;
  readonly pageSize: bigint;
  readonly handleCount: bigint;
  readonly processCount: bigint;
  readonly threadCount: bigint;
}

/**
 * CreateMemoryResourceNotification. The system's object is signalled as long as memory is low (or high), so that it fires when that begins, and not again before it has
 * been over: after FIRED it is looked at now and then until it is clear.
 */
export interface MemoryNotificationConstructor {
  new (kind: 'low' | 'high', onWake: OnWake): MemoryNotification;
}
export interface MemoryNotification extends Watch {
  /** Whether memory is so now, as the system says (QueryMemoryResourceNotification). After `close()`: false. */
  isSet(): boolean;
}

/** GetDiskFreeSpaceEx on a helper thread, because a share may hang: one thread per path and environment at most, as of statfs in ./reading.d.ts. */
export interface FilesystemStats {
  /** `errno`: ERROR_PATH_NOT_FOUND (3), … `atNs`: 0n: none yet. There are no inodes on Windows. */
  read(): FilesystemReading;
  /** As in ./reading.d.ts. */
  request(onDone?: () => void): boolean;
  close(): void;
}
export interface FilesystemReading {
  readonly totalBytes: bigint;
  readonly freeBytes: bigint;
  /** To the caller, who may have a quota. */
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
  /** Whoever started it; that one may be gone, and another have its number: compare `createdAt`. */
  readonly parentPid: number;
  /** File name of its program. */
  readonly name: string;
  /** 100 ns since 1601, UTC: with `pid` it is one process for ever. */
  readonly createdAt: bigint;
  /** What follows was asked of the process itself: why it was refused, and then the fields are 0 or empty (ERROR_ACCESS_DENIED of some of the system's). */
  readonly errno: number;
  /** Whole, in the form C:\… */
  readonly path: string;
  readonly workingSetBytes: bigint;
  /** What it has committed for itself (PrivateUsage). */
  readonly privateBytes: bigint;
  /** User and kernel. */
  readonly cpuTimeNs: bigint;
  readonly sessionId: number;
  /** The system dies with it (IsProcessCritical). */
  readonly critical: boolean;
}

/** One process, held by its handle: another one that gets its number later is never meant. */
export interface ProcessHandle extends Watch {
  /** TerminateProcess. Returns at once; FIRED says that it has ended. No failure where it has. */
  terminate(exitCode: number): void;
  /** undefined: it lives. */
  exitCode(): number | undefined;
}
export interface ProcessHandleConstructor {
  /**
   * `createdAt`: as of `processes()`; a process of another time is refused as one that is not there. `onWake`: FIRED once, when it has ended; GONE with it. Throws ERROR_INVALID_PARAMETER (87): there is no
   * such process; ERROR_ACCESS_DENIED.
   */
  new (pid: number, createdAt: bigint, onWake: OnWake): ProcessHandle;
}

/** A job object, held by its handle. */
export interface Job {
  /** Of its processes and those of the jobs nested in it. */
  processes(): number[];
  accounting(): JobAccounting;
  limits(): JobLimits;
  /** undefined: leave as it is; 0n or 0: no limit. */
  setLimits(limits: Partial<JobLimits>): void;
  assign(process: ProcessHandle): void;
  /** TerminateJobObject: all of them, and those of the nested ones. */
  terminate(exitCode: number): void;
  close(): void;
}
export interface JobConstructor {
  /** Opens the one of that name. Throws ERROR_FILE_NOT_FOUND. `create`: makes it; throws ERROR_ALREADY_EXISTS. */
  new (name: string, create?: boolean): Job;
}
export interface JobAccounting {
  readonly activeProcesses: number;
  readonly totalProcesses: number;
  readonly cpuTimeNs: bigint;
  /** The most that all of them had committed together. */
  readonly peakCommitBytes: bigint;
}
/** 0n, 0: none. */
export interface JobLimits {
  readonly commitBytes: bigint;
  readonly commitBytesPerProcess: bigint;
  readonly activeProcesses: number;
}

export interface ServiceEntry {
  readonly name: string;
  readonly displayName: string;
  readonly state: 'stopped' | 'start-pending' | 'stop-pending' | 'running' | 'continue-pending' | 'pause-pending' | 'paused';
  /** 0: none. */
  readonly pid: number;
  /** Alone in its process: svchost.exe mostly has several. */
  readonly ownProcess: boolean;
  readonly acceptsStop: boolean;
}

/**
 * This process as a service: StartServiceCtrlDispatcher on a thread of its own, which runs until the service has been reported as stopped.
 */
export interface ServiceDispatcher {
  /** Why the dispatcher could not run: ERROR_FAILED_SERVICE_CONTROLLER_CONNECT (1063) where no service manager has started this process. 0: it runs, or is about to. */
  errno(): number;
  /** SetServiceStatus. `stopped` ends the thread. */
  report(
    state: 'start-pending' | 'running' | 'stop-pending' | 'stopped',
    options?: { readonly waitHintMs?: number; readonly exitCode?: number },
  ): void;
  /** Waits for no thread; a service that was not reported as stopped is, by its end. */
  close(): void;
}
export interface ServiceDispatcherConstructor {
  /** `onControl`: 'start' once, when the manager has called; 'stop' and 'shutdown' when it asks for that; 'failed' where the dispatcher cannot run (`errno()`). */
  new (name: string, onControl: (control: 'start' | 'stop' | 'shutdown' | 'failed') => void): ServiceDispatcher;
}
