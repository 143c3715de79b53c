/** What counts of a process: resident and swapped pages, and the page tables that lead to them. */
export interface OomMemory {
  readonly rssBytes: bigint;
  readonly swapBytes: bigint;
  readonly pageTableBytes: bigint;
}

/** What the OOM killer looks at in a process. */
export interface OomTask {
  readonly pid: number;
  readonly name: string;
  readonly kernelThread: boolean;
  /** undefined: it has none of its own: a kernel thread, or one that has ended and was not waited for. */
  readonly memory: OomMemory | undefined;
  readonly oomScoreAdj: number;
  /** /proc/PID/oom_score: the kernel's own value, in parts of the machine whatever runs out. undefined: this kernel's file could not be read. */
  readonly oomScore: number | undefined;
  /** Its memory cgroup, below the mount; undefined: not known. */
  readonly cgroup: string | undefined;
  /** The cgroup that dies with it: the highest in the domain above it with memory.oom.group (cgroup v2). */
  readonly group: string | undefined;
}

/** Where memory runs out. */
export interface OomDomain {
  /** undefined: the machine. */
  readonly cgroup: string | undefined;
  /** What oom_score_adj is parts of: RAM and swap, or the memcg's limit and the swap it may use. */
  readonly totalBytes: bigint;
}

/** What the OOM killer would decide by now. */
export interface OomReading {
  readonly domain: OomDomain;
  /** Of the machine. */
  readonly machineBytes: bigint;
  readonly pageSize: bigint;
  /** In the order in which the kernel looks at them. */
  readonly tasks: readonly OomTask[];
  /** pid 1 of this reading is the machine's, and not a container's, and nobody is hidden. */
  readonly initialPidNamespace: boolean;
  /** The memcg that was asked for, where its OOM is one of `domain`, because it has no limit of its own. */
  readonly instead: string | undefined;
  /** undefined: no memory controller. */
  readonly cgroupVersion: 1 | 2 | undefined;
  /** What counters per CPU may hide of a process: two that are nearer to each other may change places. */
  readonly uncertainBytes: bigint;
  readonly settings: OomSettings;
  /** Processes that may use some memory nodes only: an allocation that is bound to other nodes passes them over. */
  readonly boundToNodes: number;
  /** Processes that could not be read though they are there. */
  readonly unreadable: number;
}

/** What makes the kernel decide otherwise than by badness. */
export interface OomSettings {
  /** vm.panic_on_oom: 0 kill, 1 panic when the machine is out of memory, 2 also when a memcg is. */
  readonly panic: number;
  /** vm.oom_kill_allocating_task: out of memory, the machine kills whoever asked for more. */
  readonly killAllocating: boolean;
  /** v1: memory.oom_control says oom_kill_disable; whoever asks for more waits, nobody is killed. */
  readonly killDisabled: boolean;
}
