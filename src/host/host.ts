import type { OperatingSystem } from '../core/signal/operating-system.js';
import type { ProgramRunner, ServiceManager } from '../monitor/ports/ports.js';
import type { Binding } from '../native/binding.js';
import type { readBootId } from './linux/process/own-process.js';
import type { openContainerRuntime } from './linux/cri/container-runtime.js';
import type { DoctorReaders } from './linux/facts/readers.js';
import type { ownMemoryCgroup, readHierarchies } from './linux/cgroup/hierarchies.js';
import type { peerOf, userOf } from './linux/process/peer.js';
import type { instanceName, lockInstance, lockHolder, lockHoldersIn, locksHeldBy } from './linux/process/lock-files.js';
import type { KernelLogWatch } from './linux/oom/kernel-log.js';
import type { readMemoryHoldings } from './linux/memory/memory-holdings.js';
import type { BoundNodes, readMemoryNodes } from './linux/memory/memory-nodes.js';
import type { readMemoryReserve } from './linux/memory/memory-reserve.js';
import type { openNode } from './linux/node.js';
import type { oomCgroup, OomCounters } from './linux/oom/oom-counters.js';
import type { domainOf } from './linux/oom/oom-domain.js';
import type { readOomKiller } from './linux/oom/oom-killer.js';
import type { openManagedOom } from './linux/managed-oom/managed-oom.js';
import type { awaitInhibitDelay, readInhibitDelay } from './linux/systemd/inhibit-delay.js';
import type { WorkloadProcesses } from './linux/process/workload-processes.js';
import type { OomSignal } from './linux/systemd/oom-signal.js';
import type { openShutdownDelay } from './linux/systemd/shutdown-delay.js';
import type { openCommandRunner } from './linux/systemd/transient-units.js';
import type { openUnitManager } from './linux/systemd/unit-manager.js';
import type { Request, RequestTarget, Requests } from './requests.js';

/** The events of the kernel's OOM killer. */
interface KernelKillReaders {
  readonly KernelLogWatch: typeof KernelLogWatch;
  readonly OomCounters: typeof OomCounters;
  readonly oomCgroup: typeof oomCgroup;
}

/** What the kernel's OOM killer would choose. */
interface OomKillerReaders {
  readonly read: typeof readOomKiller;
  readonly domainOf: typeof domainOf;
}

/** What evictd needs from an operating system. `undefined`: it has no such thing. */
export interface Host {
  readonly os: OperatingSystem;
  readonly openNode: typeof openNode;
  readonly lockInstance: typeof lockInstance;
  readonly raisePriority: () => void;
  readonly readHierarchies: typeof readHierarchies;
  /** Why evictd does not run a program of an operator. */
  readonly ownMemoryCgroup: typeof ownMemoryCgroup;
  readonly canSignalOthers: (native: Binding) => boolean;
  /** root, or an administrator on Windows. */
  readonly isAdministrator: () => boolean;
  /** The hint where a right is missing: to end processes of other users, and for everything else. */
  readonly elevation: { readonly toEndOthers: string; readonly other: string };
  readonly instanceName: typeof instanceName;
  readonly lockHolder: typeof lockHolder;
  readonly lockHoldersIn: typeof lockHoldersIn;
  readonly locksHeldBy: typeof locksHeldBy;
  readonly readBootId: typeof readBootId;
  readonly oomKiller: OomKillerReaders | undefined;
  readonly readMemoryReserve: typeof readMemoryReserve;
  /** Empty on a machine with one memory node. */
  readonly readMemoryNodes: typeof readMemoryNodes;
  readonly openBoundNodes: () => BoundNodes | undefined;
  readonly openWorkloadProcesses: ((...args: ConstructorParameters<typeof WorkloadProcesses>) => WorkloadProcesses) | undefined;
  readonly readMemoryHoldings: typeof readMemoryHoldings | undefined;
  readonly kernelKills: KernelKillReaders | undefined;
  /** Keeps the program's machine code in memory. `errno`: of the first refusal. */
  readonly lockText: ((native: Binding) => { readonly bytes: number; readonly errno: number }) | undefined;
  /** Lets the thread that watches and carries out standing orders run before all else. Returns 0 or errno. */
  readonly setWaiterRealtime: ((native: Binding) => number) | undefined;
  /** Whether a file can be renamed over one that is open. */
  readonly replacesOpenFiles: boolean;
  /** Allocates space behind the content of a file and keeps its size. Rejects with Node's errors. */
  readonly reserve: ((native: Binding, fd: number, offset: number, length: number) => Promise<void>) | undefined;
  /**
   * @param env  the service manager's variables are removed from it
   * @param onStop  the service manager asks evictd to stop, other than by a signal
   */
  readonly openServiceManager: (native: Binding, env: NodeJS.ProcessEnv, onStop: () => void) => ServiceManager | undefined;
  /** Sends a request to a running evictd. Throws where that is not permitted. */
  readonly ask: (native: Binding, request: Request, target: RequestTarget) => void;
  /** Receives, as the holder of a lock file, requests that do not come as signals. */
  readonly listenToRequests: (lock: string, requests: Requests) => { close(): void };
  readonly openUnitManager: typeof openUnitManager;
  readonly openManagedOom: typeof openManagedOom;
  readonly openContainerRuntime: typeof openContainerRuntime | undefined;
  readonly openCommandRunner: typeof openCommandRunner;
  /** Runs programs as units, or as children where systemd is not the init. undefined: it runs none. */
  readonly openProgramRunner: ((native: Pick<Binding, 'ChildProgram' | 'FileStatuses'>) => ProgramRunner) | undefined;
  /** The arguments of OomSignal. undefined: there is no such bus. */
  readonly openOomSignal: ((...args: ConstructorParameters<typeof OomSignal>) => OomSignal) | undefined;
  readonly readInhibitDelay: typeof readInhibitDelay;
  readonly awaitInhibitDelay: typeof awaitInhibitDelay;
  /** undefined: Windows, where there is no control socket. */
  readonly peerOf: typeof peerOf | undefined;
  /** undefined: Windows. */
  readonly userOf: typeof userOf | undefined;
  readonly openShutdownDelay: typeof openShutdownDelay;
  /** The readers of `evictd doctor` for Linux. */
  readonly doctor: DoctorReaders | undefined;
}
