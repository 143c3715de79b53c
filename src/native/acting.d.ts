// The native contract, what acts (see binding.d.ts).

/** A cgroup held by its directory: everything goes to this one, never to another created later under the same name. */
export interface CgroupHandle {
  readonly id: bigint;
  /**
   * One pass over cgroup.procs of the cgroup and all below it: pidfd_open each, read the membership again, signal those that are still members.
   * `found`: processes listed in the first reading. `signalled`: signals delivered. `errno` (positive): the first failure other than ESRCH, one for
   * want of descriptors or memory before all others, else 0 (ENODEV is no failure: the cgroup is gone, found = 0). EPERM also for who is never signalled: pid 1, this process, and processes outside
   * this pid namespace (listed as 0, each counted). EOPNOTSUPP: a threaded cgroup, whose processes only the domain above it lists.
   * `atNs`: when the last signal had been sent, monotonic clock; 0n: none was.
   * `reaper`: is given those that were signalled (with SIGKILL that makes sense), as far as it has room.
   */
  signal(signal: number, reaper?: MemoryReaper): { found: number; signalled: number; errno: number; atNs: bigint };
  /**
   * SIGSTOP to everybody, again to whoever a new reading lists besides, until one lists nobody new (`settled`) or `rounds` (1–1000) readings were made.
   * The stopped fork no more, and make no room for others below a pids limit; but a fork that had begun goes through (SIGSTOP ends none), and its child, not stopped, may be listed
   * only after that: a later call finds it. `errno` as of `signal`.
   */
  stop(rounds: number): { rounds: number; settled: boolean; errno: number };
  /**
   * Of a cgroup in a v1 freezer hierarchy (freezer.state), or of v2 (cgroup.freeze). true: all are frozen. false: some were not within `limitMs`
   * (0–1000), which blocks for as long. Throws where nothing was frozen, ENOENT where the cgroup has neither file. Otherwise `thaw()` must follow, whatever happens
   * in between: a process that was killed in a frozen v1 cgroup stays until then. It needs no descriptor but that which is kept for it here.
   */
  freeze(limitMs: number): boolean;
  /** Also what somebody else froze, and all cgroups below it. No failure where the cgroup is gone. Throws where a part of it may be frozen still: call again. */
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
