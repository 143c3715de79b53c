// The native contract: acting (see binding.d.ts).
import type { OnWake, FileSum, Watch } from './watch.js';

/** A cgroup held by its directory, so that a later cgroup of the same name is never meant. */
export interface CgroupHandle {
  readonly id: bigint;
  /**
   * One pass over cgroup.procs of the cgroup and its descendants: pidfd_open, read the membership again, signal the
   * members. A pass visits at most 512 cgroups: the next one with the same signal continues there, and `complete` says
   * that the pass came to the end. `emptyRounds`: rounds in a row over all cgroups that listed no process. `found`:
   * processes in the first reading. `signalled`: signals delivered. `errno` (positive): the first failure other than
   * ESRCH, or 0. A lack of descriptors or memory precedes other failures. ENODEV, found = 0: the cgroup was removed.
   * EPERM also for processes that are never signalled: pid 1, this process, and those outside this pid namespace
   * (listed as 0). EOPNOTSUPP: a threaded cgroup, whose processes its domain lists. `atNs`: when the last signal was
   * sent, monotonic; 0n: none was. `reaper`: takes the memory of the signalled processes, as far as it has room.
   */
  signal(signal: number, reaper?: MemoryReaper): SignalPass;
  /**
   * Sends SIGSTOP to all processes and repeats for new ones until there is none (`settled`) or `rounds` (1–1000)
   * readings were made. A fork in progress completes in spite of SIGSTOP; its child may be listed only later, for
   * another call. `errno` as in `signal`.
   */
  stop(rounds: number): { rounds: number; settled: boolean; errno: number };
  /**
   * Freezes a cgroup of a v1 freezer hierarchy (freezer.state) or of v2 (cgroup.freeze). true: all are frozen; false:
   * not within `limitMs` (0–1000), for which it blocks. Throws where nothing was frozen, ENOENT where the cgroup has
   * neither file. Otherwise `thaw()` must follow: a process killed in a frozen v1 cgroup stays until then. `thaw()`
   * needs no new descriptor.
   */
  freeze(limitMs: number): boolean;
  /**
   * Thaws the cgroup and its descendants, whatever froze them. No failure where the cgroup was removed. Throws where a part
   * may still be frozen, EAGAIN after 512 cgroups: call again.
   */
  thaw(): void;
  /** v2 and hybrid: writes "1" to cgroup.kill. Throws ENOENT where it does not exist. */
  kill(): void;
  /** pids of the cgroup and its descendants, ascending. Throws EFBIG for 512 cgroups or more. */
  processes(): number[];
  close(): void;
}
export interface SignalPass {
  readonly found: number;
  readonly signalled: number;
  readonly errno: number;
  readonly atNs: bigint;
  readonly complete: boolean;
  readonly emptyRounds: number;
}
export interface CgroupHandleConstructor {
  /** Throws ENOENT; throws ESTALE if the directory's inode is not `id`. */
  new (cgroup: string, id?: bigint): CgroupHandle;
}

export interface Pidfd {
  /** Throws ESRCH when the process has exited. */
  signal(signal: number): void;
  /**
   * process_mrelease (Linux 5.15): frees the memory of a dying process without waiting for it to be scheduled. Blocks
   * meanwhile (5 ms for 100 MiB) and for its mmap lock. Throws ESRCH: it has freed its memory; EINVAL: not dying, or it shares
   * its memory with a process that is not; ENOSYS.
   */
  release(): void;
  close(): void;
}
export interface PidfdConstructor {
  new (pid: number): Pidfd;
}

/**
 * Frees the memory of dying processes (`Pidfd.release`) on a thread of its own. `close()` does not wait and drops the
 * queue. The queue has 64 places; a process without one comes again with the next signal.
 */
export interface MemoryReaper {
  /** `released`: processes without memory by now. `errno` (positive): the last failure other than ESRCH and EINVAL. */
  counts(): { released: number; errno: number };
  close(): void;
}
export interface MemoryReaperConstructor {
  /** Throws EAGAIN where no thread can be made. */
  new (): MemoryReaper;
}

/** `errno` (positive): it could not be started, or 0. `signal`: that ended it, or 0. */
export interface ChildEnd {
  readonly errno: number;
  readonly exitCode: number;
  readonly signal: number;
}
/**
 * A program as a child of this process, started on a thread of its own, because exec may wait for a filesystem that
 * hangs. It has a session and process group of its own, which ends with it, / as directory, /dev/null as input and
 * output, priority 10 and oom_score_adj 0. `close()` ends the group with SIGKILL, and `onDone` is not called any more.
 */
export interface ChildProgramConstructor {
  /** Throws EAGAIN where no thread can be made, or while 16 children have not ended. */
  new (
    command: { readonly program: string; readonly arguments: readonly string[]; readonly environment: readonly string[] },
    onDone: (end: ChildEnd) => void,
  ): { close(): void };
}

/** What lstat(2) says of a file, and `errno` (positive) where it, or reading `content`, failed. */
export interface FileStatus {
  readonly errno: number;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
  /** The target of a symbolic link; the first 256 bytes of a regular file; else empty. */
  readonly content: string;
}
/**
 * Reads the status of files in a child process, because a filesystem that hangs may keep the reading process from its
 * end, even after SIGKILL. `close()` does not end the child, and `onDone` is not called any more.
 */
export interface FileStatusesConstructor {
  /** Throws EAGAIN where no thread can be made, or while 16 children (ChildProgram, too) have not ended. */
  new (paths: readonly string[], onDone: (statuses: readonly FileStatus[]) => void): { close(): void };
}

/**
 * An eviction that was decided in advance. After a wake of any other watch at which the first condition holds, and
 * `afterNs` without `place`, `withdraw` or `seen`, the waiter's thread compares the candidates, writes the record of the
 * largest into the file, and kills it. It wakes then, and `take` has the result. It knows only what `place` gave it.
 */
export interface NativeOrder extends Watch {
  /**
   * Replaces the order that stands. Opens all files and cgroups, and throws where one cannot be opened; the former order
   * stays then. Returns false, without effect, while a result waits. `seenNs`: a wake before does not count.
   */
  place(plan: NativeOrderPlan, seenNs: bigint): boolean;
  /** Returns false while a result waits. */
  withdraw(): boolean;
  /** A wake before does not count. */
  seen(seenNs: bigint): void;
  /** Nothing is carried out before. Until the next `place`. */
  postpone(untilNs: bigint): void;
  take(): NativeOrderResult | undefined;
}
export interface NativeOrderPlan {
  /**
   * The first, which is the node's value, and one of the others must hold. `grownBy`: since `place`. A value that cannot
   * be read counts as before, ENODEV as none.
   */
  readonly conditions: readonly ({ readonly value: FileSum } & ({ readonly atLeast: number } | { readonly grownBy: number }))[];
  /** From the wake, until the conditions after the first do not count any more. */
  readonly settlesNs: bigint;
  /**
   * The one with the largest sum of value and offset is killed, of equals the first. Nothing is killed where one was
   * removed, or where the largest has no process, a new cgroup or other attributes. A cgroup with this process is refused
   * (EPERM).
   */
  readonly candidates: readonly {
    readonly cgroup: string;
    readonly id: bigint;
    readonly value: FileSum;
    readonly offset: number;
    readonly record: Buffer;
    /** The same cgroup in other hierarchies, where it may not exist. */
    readonly elsewhere: readonly string[];
  }[];
  /** Names of extended attributes, of a candidate and of all cgroups in it. */
  readonly attributes: readonly string[];
  readonly afterNs: bigint;
  /** The time if the node has grown by more than the candidates have and `slack`. */
  readonly unexplainedNs: bigint;
  readonly slack: number;
  readonly expiresNs: bigint;
  /** Whether the order writes cgroup.kill, if it can; else it sends signals. */
  readonly byFile: boolean;
  /**
   * This process is in none of the candidates. Otherwise a candidate with so many cgroups that it is not listed
   * completely gets signals, which spare this process.
   */
  readonly apart: boolean;
}
export interface NativeOrderResult {
  /** undefined: one was removed, or the largest has no process or has changed. */
  readonly candidate: number | undefined;
  readonly node: number;
  readonly value: number;
  /** The wake. */
  readonly crossedNs: bigint;
  /** The last signal, or the refusal. */
  readonly atNs: bigint;
  /** Found before the signal, in the first 512 cgroups. */
  readonly processes: number;
  /** Positive: why no process got a signal; 0: at least one did. */
  readonly errno: number;
  /** Positive: why the record could not be written; 0: it was. */
  readonly unrecorded: number;
}
export interface StandingOrderConstructor {
  /**
   * `file`: exists, with room for the records. The record is written at byte 64; then the bytes before: `crossedNs` and
   * the time of the decision (u64), `node` and `value` (f64).
   */
  new (file: string, reaper: MemoryReaper | undefined, onWake: OnWake): NativeOrder;
}

/** The service manager's datagram socket (sd_notify(3)). */
export interface NotifySocket {
  /**
   * 'NAME=VALUE' lines, as one datagram. Never waits. Returns 0 or a positive errno: EAGAIN where the manager is
   * behind, EBADF after `close()`.
   */
  notify(state: string): number;
  close(): void;
}
export interface NotifySocketConstructor {
  /**
   * `address`: a path, or '@' and an abstract name. Throws EINVAL for anything else, ENAMETOOLONG for more than 107
   * bytes.
   */
  new (address: string): NotifySocket;
}

/**
 * flock(LOCK_EX | LOCK_NB) on a file, created 0600. Throws EWOULDBLOCK (code 'EAGAIN') where another process holds it.
 */
export interface FileLockConstructor {
  new (path: string): { close(): void };
}
