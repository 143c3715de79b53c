/**
 * The contract of the native addon. Mechanism only: it waits, reads and signals; it knows no threshold policy.
 *
 * Every class owns its descriptors; `close()` may be called twice and from inside a callback; the end of the environment closes what is open.
 * Errors are Node-like: `code` ('ENOENT'), `errno` (negative, as libuv's), `syscall`, `path`.
 * An argument of the wrong kind is a TypeError ('ERR_INVALID_ARG_TYPE'), one out of range a RangeError ('ERR_OUT_OF_RANGE'); use after `close()` is EBADF.
 * Times are CLOCK_MONOTONIC nanoseconds, comparable with `process.hrtime.bigint()`.
 */

/** Why a watch woke: bits, because wakes coalesce. FIRED: look now. GONE: the source vanished; the watch has left the set and will not fire again. */
export interface WakeBits {
  readonly FIRED: 1;
  readonly GONE: 2;
}

/**
 * Called on the JavaScript thread. `atNs`: when the waiter thread saw the first of the coalesced events. `detail`: bits of this kind of watch (which counter
 * moved), 0 where it has none to tell. What it throws is an uncaught exception; the other watches are called all the same.
 */
export type OnWake = (wake: number, atNs: bigint, detail: number) => void;

/** Live watches keep the event loop (and themselves) alive, as fs.watch does. The environment's first watch starts its two threads, waiter and armer. */
export interface Watch {
  /** false after `close()` and after GONE. */
  readonly live: boolean;
  status(): WatchStatus;
  close(): void;
}

/** What a watch is, for people and logs. It may be asked after `close()`. */
export interface WatchStatus {
  readonly mechanism: string;
  /** The file or cgroup. */
  readonly target: string;
  readonly live: boolean;
  /** After GONE: why; after REFUSED: what the kernel said. Positive; 0 where it is not known or all is well. */
  readonly errno: number;
}

/**
 * cgroup v1: an eventfd registered in `cgroup.event_control` on `memory.usage_in_bytes`. Fires on crossing in both directions.
 *
 * The constructor opens what registering needs, and throws where that may not be opened. The registration itself, in which the kernel waits for an RCU
 * grace period, is made by the armer's thread: FIRED with the detail bit MOVED says that it stands. A limit that had been crossed by then does not
 * fire: read when it comes. REFUSED: it could not be made (`status().errno`), what stood before stands.
 */
export interface MemcgThresholdConstructor {
  new (cgroup: string, usageBytes: bigint, onWake: OnWake): ThresholdWatch;
}
export interface ThresholdWatch extends Watch {
  /** The limit that is registered with the kernel now; undefined: none yet, or not live. */
  readonly armed: bigint | undefined;
  /**
   * Registers another limit, and then drops the former, so that no crossing falls between. Returns at once; MOVED or REFUSED follows. Of several that are
   * asked for meanwhile only the newest counts, and one wake may answer for all. After `close()` or GONE it does nothing.
   */
  move(usageBytes: bigint): void;
}
/** Detail bits of a MemcgThreshold. */
export interface ThresholdBits {
  readonly MOVED: 1;
  readonly REFUSED: 2;
}

/**
 * cgroup v1: an eventfd registered on `memory.oom_control`. Fires when the cgroup, or one above it, is out of memory, before the kernel's OOM killer
 * chooses (the detail bits may then be 0), and again when within a second the cgroup's own counter of kills has moved (OOM_KILL).
 */
export interface OomControlConstructor {
  new (cgroup: string, onWake: OnWake): Watch;
}
/** Detail bits of an OomControl. UNDER_OOM: tasks wait, because the OOM killer is switched off. OOM_KILL: a process of this very cgroup was killed. */
export interface OomBits {
  readonly UNDER_OOM: 1;
  readonly OOM_KILL: 2;
}

/**
 * A PSI trigger on /proc/pressure/* or a cgroup's *.pressure. Errors: EINVAL where the window is not allowed (without CAP_SYS_RESOURCE it must be a multiple
 * of 2 s) or the file has no line of this kind (irq has `full` only). `close()` returns at once, the armer's thread closes.
 */
export interface PsiTriggerConstructor {
  new (file: string, trigger: { kind: 'some' | 'full'; stallUs: number; windowUs: number }, onWake: OnWake): Watch;
}

/**
 * cgroup v2: poll of `memory.events` (or `.local`), or of `cgroup.events` (populated, frozen), of a cgroup. GONE within 250 ms after the cgroup was
 * removed: an empty one (cgroup.events says so) is looked at four times a second, and only an empty one can be removed. The detail bits say which counters
 * moved since it fired last: several at a time, because the kernel notifies at most once in 10 ms; none for one that evictd does not know.
 */
export interface MemcgEventsConstructor {
  new (cgroup: string, file: 'memory.events' | 'memory.events.local' | 'cgroup.events', onWake: OnWake): EventsWatch;
}
export interface EventsWatch extends Watch {
  /** As read when it fired last, or at the start; those that the file has. After `close()` or GONE: as they were when last asked for. */
  counters(): Readonly<Partial<Record<EventsCounter, number>>>;
}
/** The names in memory.events, and in cgroup.events (populated, frozen: 0 or 1). */
export type EventsCounter = Lowercase<keyof EventsBits>;
/** Detail bits of a MemcgEvents. */
export interface EventsBits {
  readonly LOW: 1;
  readonly HIGH: 2;
  readonly MAX: 4;
  readonly OOM: 8;
  readonly OOM_KILL: 16;
  readonly OOM_GROUP_KILL: 32;
  readonly POPULATED: 64;
  readonly FROZEN: 128;
}

/**
 * cgroups that appear and vanish below a cgroup (inotify), v1 and v2. Without `onWake` nobody is woken and the event loop is not kept alive: changes stand
 * in the kernel's queue until `changes()` reads them. Detail bit 1 (OVERFLOW): changes were lost. Throws EMFILE (`syscall` inotify_init1: no inotify instance
 * left, fs.inotify.max_user_instances, or no descriptor), ENOSPC (inotify_add_watch: fs.inotify.max_user_watches), ENOENT, ENOTDIR.
 */
export interface CgroupTreeConstructor {
  /** `depth` 'children': those directly below the root, one watch. 'all': every level, a watch each. */
  new (root: string, depth: 'children' | 'all', onWake?: OnWake): CgroupTree;
}
export interface CgroupTree extends Watch {
  /**
   * What happened since the last call, in order, undefined where nothing has; every cgroup made before the call is in it. A cgroup may be told twice. A renamed one (v1) vanishes under the old
   * name and appears under the new one. What vanishes takes all below it along; what lay below an 'appeared' one is told, too. `overflow`: changes were lost (the
   * kernel's queue holds 16,384), `list` is empty: list anew. `gone`: the root was removed or renamed, or could not be followed (`status().errno`). Never throws.
   */
  changes(): CgroupTreeChanges | undefined;
}
export interface CgroupTreeChanges {
  readonly list: readonly { readonly path: string; readonly kind: 'appeared' | 'vanished' }[];
  readonly overflow: boolean;
  readonly gone: boolean;
}

/**
 * The end of many processes, held by pidfds: FIRED when some have exited (coalesced), GONE when all have; then nothing is left to watch. Those that are gone
 * at the start count as exited. A number is whoever has it when it is opened: read afterwards what the end of all should mean.
 */
export interface ProcessExitConstructor {
  /** Throws EMFILE and the like where not one of those that exist could be held. */
  new (pids: readonly number[], onWake: OnWake): ProcessExit;
}
export interface ProcessExit extends Watch {
  /** Those held that have not exited. 0 after `close()`. */
  readonly remaining: number;
  /** Those that could not be held (EMFILE; pid 0, which stands for a process outside this pid namespace): their end is not told. */
  readonly missed: number;
}

/**
 * What the kernel's OOM killer does, from now on, as the kernel log says it (/dev/kmsg). FIRED: `records()` has something. Detail bit 1 (LOST): something was
 * lost. Throws EPERM where CAP_SYSLOG is missing (kernel.dmesg_restrict), EACCES, ENOENT.
 */
export interface KernelLogConstructor {
  new (onWake: OnWake): KernelLog;
}
export interface KernelLog extends Watch {
  /** What came since the last call, in order. `overruns`: how often the kernel wrote over what was not read yet; `dropped`: records that nobody took in time. */
  records(): { readonly list: readonly OomRecord[]; readonly overruns: number; readonly dropped: number };
}
/** One process killed by the OOM killer. Paths as the kernel's first cgroup namespace has them, pids as its first pid namespace. */
export interface OomRecord {
  readonly sequence: number;
  /** Since boot. */
  readonly timeUs: number;
  /** 'global': the machine was out of memory. 'memcg': a cgroup was at its limit. */
  readonly constraint: 'global' | 'memcg';
  /** Whose limit; undefined: global, or not said. */
  readonly oomMemcg: string | undefined;
  /** Where the process lived; undefined: not said. Of a group that is killed as a whole (memory.oom.group): the group. */
  readonly taskMemcg: string | undefined;
  readonly pid: number;
  /** Its comm: 15 bytes at most, chosen by the process. */
  readonly name: string;
  readonly uid: number | undefined;
  readonly totalVmBytes: number;
  readonly anonRssBytes: number;
  readonly fileRssBytes: number;
  readonly shmemRssBytes: number;
  readonly pgtablesBytes: number;
  readonly oomScoreAdj: number;
}

/**
 * How a kernel file is read.
 * `number`: one decimal number ("max" reads as Infinity). `keyed`: "key value" lines (memory.stat, memory.events) and "Key: value kB" lines (meminfo;
 * kB become bytes), one value per key. `pressure`: PSI, eight values: some avg10, avg60, avg300 (percent), total (µs), then full.
 * `loadavg`: one value, the number of existing tasks (the denominator of the fourth field). `occupied`: one value, 1 if the file (cgroup.procs) lists
 * anything, else 0; opened for each reading, because v1 answers an open one from a list that it made before.
 * `directory`, in a CgroupTable: 0 (the default) for the cgroup, n for the n-th path `beside` it.
 */
export type FileSpec = { readonly path: string; readonly directory?: number } & (
  { readonly format: 'number' | 'pressure' | 'loadavg' | 'occupied' } | { readonly format: 'keyed'; readonly keys: readonly string[] }
);

/**
 * Samples a value on the waiter thread: Σ weight × field over the fields of `files` in order, or −1 × a field of `filesystem`, which its own thread reads.
 * Limits are what the value rises to, so what falls to one has a negative weight and a negative limit. It wakes when the value crosses one
 * (CROSSED: from < limit to ≥ limit or back; beyond a limit at the first sample after the start or `setLimits`, too), and when it has come so near to one that
 * it may be there within two of the shortest periods (APPROACHING: once, until it has been twice as far away).
 *
 * The next sample comes after a quarter of the time to the nearest limit at the highest rate that was seen, never taken for less than `maxRatePerSecond`
 * nor for more than eight times that; within [minPeriodMs, maxPeriodMs] (1 and 10,000). Beyond a limit it comes after 100 ms at most. A sample that fails in
 * passing (ENOMEM; any error of a filesystem) only costs that sample. GONE when a file cannot be read any more, or the `filesystem` was closed (EBADF). Throws where
 * a file or a key is missing at the start. While a filesystem hangs there are no samples.
 */
export interface SamplerConstructor {
  new (options: SamplerOptions, onWake: OnWake): SamplerWatch;
}
export type SampledValue =
  | { readonly files: readonly FileSpec[]; readonly weights: readonly number[] }
  | { readonly filesystem: FilesystemStats; readonly field: 'availableBytes' | 'inodesFree' };
export type SamplerOptions = SampledValue & {
  readonly limits: readonly number[];
  /** What the value is taken to be able to rise by in a second, before it has shown more. */
  readonly maxRatePerSecond: number;
  readonly minPeriodMs?: number;
  readonly maxPeriodMs?: number;
};
export interface SamplerWatch extends Watch {
  /** Samples at once. */
  setLimits(limits: readonly number[]): void;
  /**
   * The caller has read this value itself and goes by it: a limit that it is below counts as not reached. Where the sampler saw it beyond, it samples
   * at once, and wakes again if it is.
   */
  seen(value: number): void;
  status(): WatchStatus & {
    /** The time to the next sample; 0 before the first, and when not live. */
    readonly periodMs: number;
  };
}
/** What a sampler's wake says in `detail`. */
export interface SamplerBits {
  readonly APPROACHING: 1;
  readonly CROSSED: 2;
}

/**
 * Files opened once; `read()` is one pass of preads. Fields stand in `values` in order of the specs; a field that cannot be read is NaN, `errors[file]`
 * has its errno (positive), else 0. EBADMSG: text that the kernel would not write. ENODATA: a key or a PSI line is not in the file, the other
 * fields are good.
 */
export interface FileReader {
  readonly values: Float64Array;
  readonly errors: Int32Array;
  /** Reopens what was missing. Never throws for a file's trouble. */
  read(): void;
  close(): void;
}
export interface FileReaderConstructor {
  new (files: readonly FileSpec[]): FileReader;
}

/**
 * Many cgroups, the same files in each, in one pass. `columns` are the specs' fields in order, with paths relative to the cgroup.
 * Row r's fields stand at `values[r * columns + c]`; `errors[r]` is the first errno of the row (ENODEV: the cgroup was removed). A field that is not
 * known is NaN. What lies beside the cgroup and is not there is no error of the row.
 */
export interface CgroupTable {
  readonly columns: number;
  /** Cgroups in the table. Rows are numbered from 0; the lowest unused one is taken. */
  readonly size: number;
  /** One more than the largest row number that was ever used: for how many rows the arrays must have room. */
  readonly rowCount: number;
  /**
   * Opens the cgroup; returns its row. Rows are reused after `remove`. Throws ENOENT and the like.
   * `beside`: the directories of the same cgroup in other hierarchies (v1), whether or not they are there.
   */
  add(cgroup: string, beside?: readonly string[]): number;
  /** The cgroup's id: the inode of its directory, increasing with creation. */
  id(row: number): bigint;
  remove(row: number): void;
  /**
   * Reads all rows, or the given ones, into arrays of the caller's, and allocates nothing. Rows not in use become NaN and ENODEV. Never throws for a
   * cgroup's trouble; a RangeError, before anything is read, for an array that is too short and for a given row that is not in use.
   *
   * @param files  bit f: read the table's file f; the fields of the others stay as they are, and `errors` tells of those that were read. Default: all.
   */
  read(values: Float64Array, errors: Int32Array, rows?: Uint32Array, files?: number): void;
  close(): void;
}
export interface CgroupTableConstructor {
  /** At most 32 files. `maxOpenFiles`: beyond this many kept descriptors rows are opened for each read. Default: half of RLIMIT_NOFILE. */
  new (files: readonly FileSpec[], options?: { maxOpenFiles?: number }): CgroupTable;
}

/**
 * statfs of one mount on a helper thread, because it may hang: one thread per path and environment at most. Whoever opens a path that still hangs takes part
 * in the request that is under way.
 */
export interface FilesystemStats {
  /**
   * The newest result: total, free and available (to unprivileged) bytes, inodes and free inodes (0/0 where the filesystem has none), the time it
   * was taken (`atNs`, 0n: none yet) and its errno (0: fine). `pending`: a request is under way, since `pendingSinceNs`
   * (from before this object, where it takes part in an older one).
   */
  read(): FilesystemReading;
  /**
   * Asks for a new one. `onDone` is called when it arrived. While one that was asked for here is pending the call has no effect at all, and its `onDone` is
   * dropped; one that a sampler asked for is none. A pending request does not keep the event loop alive: the filesystem may never answer.
   */
  request(onDone?: () => void): void;
  close(): void;
}
export interface FilesystemReading {
  totalBytes: number;
  freeBytes: number;
  availableBytes: number;
  inodes: number;
  inodesFree: number;
  fsType: number;
  device: bigint;
  errno: number;
  atNs: bigint;
  pending: boolean;
  pendingSinceNs: bigint;
}
export interface FilesystemStatsConstructor {
  new (path: string): FilesystemStats;
}

/**
 * What a directory and all below it take, as `du` counts it, walked on a thread of the lowest priority: allocated blocks and inodes, hard links once, symbolic
 * links not followed, nothing that is mounted below. `close()` gives it up. A walk does not keep the event loop alive: the directory may never answer.
 */
export interface DirectoryUsage {
  close(): void;
}
export interface DirectoryUsageResult {
  bytes: number;
  inodes: number;
  /** What could not be read and is not in the sum, and the first errno (positive). What vanished meanwhile is none. */
  errors: number;
  errno: number;
  /** false: the directory could not be opened, or one below was moved away while the walk was in it. The rest is not in the sum. */
  complete: boolean;
}
export interface DirectoryUsageConstructor {
  /** `onDone` is called once, unless it was closed. Throws EAGAIN where four walks of this environment are under way, those included that were closed and hang. */
  new (path: string, onDone: (result: DirectoryUsageResult) => void): DirectoryUsage;
}

/** A cgroup held by its directory: everything goes to this one, never to another created later under the same name. */
export interface CgroupHandle {
  readonly id: bigint;
  /**
   * One pass over cgroup.procs of the cgroup and all below it: pidfd_open each, read the membership again, signal those that are still members.
   * `found`: processes listed in the first reading. `signalled`: signals delivered. `errno` (positive): the first failure other than ESRCH,
   * else 0 (ENODEV is no failure: the cgroup is gone, found = 0). EPERM also for who is never signalled: pid 1, this process, and processes outside
   * this pid namespace (listed as 0, each counted). EOPNOTSUPP: a threaded cgroup, whose processes only the domain above it lists.
   * `reaper`: is given those that were signalled (with SIGKILL that makes sense), as far as it has room.
   */
  signal(signal: number, reaper?: MemoryReaper): { found: number; signalled: number; errno: number };
  /**
   * SIGSTOP to everybody, again to whoever a new reading lists besides, until one lists nobody new (`settled`) or `rounds` (1–1000) readings were made.
   * The stopped fork no more, and make no room for others below a pids limit. `errno` as of `signal`.
   */
  stop(rounds: number): { rounds: number; settled: boolean; errno: number };
  /**
   * Of a cgroup in a v1 freezer hierarchy (freezer.state), or of v2 (cgroup.freeze). true: all are frozen. false: some were not within `limitMs`
   * (0–1000), which blocks for as long. Throws ENOENT where the cgroup has neither file. `thaw()` must follow, whatever happens in between: a process
   * that was killed in a frozen v1 cgroup stays until then.
   */
  freeze(limitMs: number): boolean;
  /** Also what somebody else froze. No failure where the cgroup is gone. */
  thaw(): void;
  /** v2 and hybrid: write "1" to cgroup.kill. Throws ENOENT where it does not exist. */
  kill(): void;
  /** pids of the cgroup and all below it, ascending. */
  processes(): number[];
  close(): void;
}
export interface CgroupHandleConstructor {
  /** Throws ENOENT; throws ESTALE if the directory's inode is not `id`. */
  new (cgroup: string, id?: bigint): CgroupHandle;
}

export interface Pidfd {
  /** Throws ESRCH when the process is gone. */
  signal(signal: number): void;
  /**
   * process_mrelease (Linux 5.15): takes the memory of a dying process back without waiting for it to be scheduled. Blocks while it does (5 ms for 100 MiB), and
   * for the process's mmap lock. Throws ESRCH: it has none any more; EINVAL: it is not dying, or shares its memory with one that is not; ENOSYS.
   */
  release(): void;
  close(): void;
}
export interface PidfdConstructor {
  new (pid: number): Pidfd;
}

/**
 * Takes the memory of dying processes back (`Pidfd.release`) on a thread of its own, made here. `close()` waits for nothing; what has not begun is dropped.
 * 64 processes can wait; who finds no room comes again with the next signal.
 */
export interface MemoryReaper {
  /** `released`: processes whose memory was taken back, or was gone already. `errno` (positive): the last failure other than ESRCH and EINVAL. */
  counts(): { released: number; errno: number };
  close(): void;
}
export interface MemoryReaperConstructor {
  /** Throws EAGAIN where no thread can be made. */
  new (): MemoryReaper;
}

/** The service manager's datagram socket (sd_notify(3)). */
export interface NotifySocket {
  /** 'NAME=VALUE' lines, as one datagram. Never waits. 0, or the errno (positive): EAGAIN where the manager has fallen behind, EBADF after `close()`. */
  notify(state: string): number;
  close(): void;
}
export interface NotifySocketConstructor {
  /** `address`: a path, or '@' and an abstract name. Throws EINVAL for anything else, ENAMETOOLONG for more than 107 bytes. */
  new (address: string): NotifySocket;
}

/** flock(LOCK_EX | LOCK_NB) on a file, created 0600. Throws EWOULDBLOCK (code 'EAGAIN') where another holds it. */
export interface FileLockConstructor {
  new (path: string): { close(): void };
}

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
  readonly DirectoryUsage: DirectoryUsageConstructor;
  readonly CgroupHandle: CgroupHandleConstructor;
  readonly Pidfd: PidfdConstructor;
  readonly MemoryReaper: MemoryReaperConstructor;
  readonly NotifySocket: NotifySocketConstructor;
  readonly FileLock: FileLockConstructor;
  /** fallocate(2) with FALLOC_FL_KEEP_SIZE: the space is the file's, its size stays. Throws ENOSPC, and EOPNOTSUPP where the filesystem cannot. */
  fallocate(fd: number, offset: number, length: number): void;
  /** An extended attribute; undefined: the file has none of that name, or its filesystem none at all. */
  getxattr(path: string, name: string): Buffer | undefined;
  /** CLOCK_BOOTTIME: as the monotonic clock, with the time that the machine slept. */
  bootTimeNs(): bigint;
  /**
   * Keeps the machine code of this process in memory: mlock2(MLOCK_ONFAULT) on the executable segments of the addon, of Node and of the libraries. Reads
   * nothing in, and never touches what is V8's own. `bytes`: of the mappings that are locked now. `errno` (positive): the first refusal, else 0; ENOMEM or
   * EPERM is RLIMIT_MEMLOCK without CAP_IPC_LOCK.
   */
  lockText(): { bytes: number; errno: number };
  /** _exit(2): for a shutdown that must not wait for a thread that hangs in a dead filesystem. */
  exitNow(code: number): never;
  /** For tests: the kills that these records of /dev/kmsg tell of. */
  parseOomRecords(records: readonly string[]): OomRecord[];
  /** For tests: live watches of this environment. */
  watchCount(): number;
}
