/** The memory that counts: resident pages, swapped pages, and their page tables. */
export interface OomMemory {
  readonly rssBytes: bigint;
  readonly swapBytes: bigint;
  readonly pageTableBytes: bigint;
}

/** A process as the OOM killer sees it. */
export interface OomTask {
  readonly pid: number;
  readonly name: string;
  readonly kernelThread: boolean;
  /** undefined: none of its own: a kernel thread or a zombie. */
  readonly memory: OomMemory | undefined;
  readonly oomScoreAdj: number;
  /** /proc/PID/oom_score, relative to the machine's memory even in a memcg. undefined: unreadable. */
  readonly oomScore: number | undefined;
  /** The path of the process's memory cgroup below the mount; undefined: not known. */
  readonly cgroup: string | undefined;
  /** The cgroup that dies with it: the highest one in the domain with memory.oom.group (cgroup v2). */
  readonly group: string | undefined;
}

/** What runs out of memory. */
export interface OomDomain {
  /** undefined: the machine. */
  readonly cgroup: string | undefined;
  /** What oom_score_adj is thousandths of: RAM and swap, or the memcg's limit and its swap. */
  readonly totalBytes: bigint;
}

/** The values by which the OOM killer would decide. */
export interface OomReading {
  readonly domain: OomDomain;
  /** The memory of the machine. */
  readonly machineBytes: bigint;
  readonly pageSize: bigint;
  /** Tasks in the kernel's order. */
  readonly tasks: readonly OomTask[];
  /** pid 1 is the machine's, not a container's, and every process is visible. */
  readonly initialPidNamespace: boolean;
  /** The requested memcg, if it has no limit of its own and so shares the OOM of `domain`. */
  readonly instead: string | undefined;
  /** undefined: no memory controller. */
  readonly cgroupVersion: 1 | 2 | undefined;
  /** The error of counters per CPU: two processes this close may swap places. */
  readonly uncertainBytes: bigint;
  readonly settings: OomSettings;
  /** Processes bound to some memory nodes; an allocation bound to other nodes skips them. */
  readonly boundToNodes: number;
  /** Running processes that could not be read. */
  readonly unreadable: number;
}

/** Settings that override badness. */
export interface OomSettings {
  /** vm.panic_on_oom. 0: kill; 1: panic when the machine is out of memory; 2: also when a memcg is. */
  readonly panic: number;
  /** vm.oom_kill_allocating_task: a machine out of memory kills the allocating process. */
  readonly killAllocating: boolean;
  /** v1: oom_kill_disable in memory.oom_control. Allocating processes wait; none is killed. */
  readonly killDisabled: boolean;
}
