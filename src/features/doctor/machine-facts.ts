import type { ControllersFacts } from '../../core/cluster/controller.js';
import type {
  CgroupFacts,
  DaemonsFacts,
  FilesystemFacts,
  ClockFacts,
  KernelFacts,
  KernelLogFacts,
  MemoryFacts,
  PressureFacts,
  InstanceFacts,
  ReloadFacts,
  RuntimeFacts,
  ServiceFacts,
  SubjectFacts,
  Unseen,
} from '../../host/facts.js';
import type { Finding } from '../../config/lint/lint-rule.js';
import type { PresentSource } from '../../config/lint/machine.js';
import type { NotifierState } from '../../core/threshold/notifier-state.js';
import type { Signal } from '../../core/signal/signal.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import type { InhibitDelay } from '../../core/systemd/inhibit-delay.js';
import type { FilesystemRole } from '../../core/signal/layout.js';
import type { FoundOperators } from '../../core/systemd/operator.js';

/** What checks read on every platform. */
export interface CommonFacts {
  readonly version: string;
  readonly runtime: RuntimeFacts;
  readonly instance: InstanceFacts;
  /** Windows has none. */
  readonly service: ServiceFacts;
  readonly reload: ReloadFacts;
  readonly crashes: CrashFacts;
  readonly node: NodeFacts;
  readonly workloads: WorkloadFacts;
}

/** How often the running evictd had crashed when it began, and how many crashes lead to the safe mode; 0: none do. */
export type CrashFacts = { readonly crashes: number; readonly limit: number } | Unseen;

/** The pauses by an operator that are in force, a sentence each. */
export type PauseFacts = { readonly messages: readonly string[] } | (Unseen & { readonly hint: string | undefined });

export interface LinuxFacts extends CommonFacts {
  /** Reads a small file of /proc, /sys or /etc; undefined: not readable. */
  readonly kernelFile: (path: string) => string | undefined;
  readonly kernel: KernelFacts;
  readonly pressure: PressureFacts;
  readonly memory: MemoryFacts;
  readonly kernelLog: KernelLogFacts;
  readonly clock: ClockFacts;
  readonly cgroup: CgroupFacts;
  readonly subject: SubjectFacts;
  readonly pauses: PauseFacts;
  readonly operators: FoundOperators;
  readonly filesystems: FilesystemFacts;
  readonly reclaim: ReclaimFacts;
  readonly shutdown: ShutdownFacts;
  readonly daemons: DaemonsFacts;
  /** undefined: none is configured. */
  readonly apiServer: ApiServerFacts | undefined;
}

export interface ApiServerFacts {
  readonly nodeName: string;
  readonly server: string | undefined;
  readonly pods: number;
  /** Why it has not answered; undefined: it has. */
  readonly problem: string | undefined;
  /** What the credential may not do: 'patch pods/status'. */
  readonly refused: readonly { readonly access: string; readonly without: string }[];
  /** What it may do and evictd never asks for; undefined: not known. */
  readonly excessive: readonly string[] | undefined;
  /** What it may not list for `could run now`, of all nodes; undefined: not known. */
  readonly unlisted: readonly string[] | undefined;
  /** Whether it may list disruption budgets; undefined: not known. */
  readonly countsBudgets: boolean | undefined;
  /** undefined: no `evictd controller` leads, or there is no answer. */
  readonly controllers: ControllersFacts | undefined;
}

export interface WindowsFacts extends CommonFacts {
  readonly rights: RightsFacts;
  readonly windowsService: WindowsServiceFacts;
  readonly volumes: readonly VolumeFacts[];
}

export type DoctorFacts = LinuxFacts & WindowsFacts;

/** The node that evictd guards, and its notifiers. */
export interface NodeFacts {
  /** 'machine' or the path of a cgroup. */
  readonly name: string;
  /** undefined: it exists and is readable. */
  readonly missing: { readonly message: string; readonly hint: string | undefined } | undefined;
  readonly isMachine: boolean;
  /** memory.available is the kernel's estimate; `missing`: it should be, but /proc/meminfo has none. Left out: no. */
  readonly estimated?: boolean | 'missing';
  readonly thresholds: readonly Threshold[];
  /** Capacities in the unit of the signal. */
  readonly capacities: ReadonlyMap<Signal, bigint>;
  /** undefined: the node or the addon is missing. */
  readonly notifiers: readonly NotifierState[] | undefined;
  /** How far the threshold of memory is above the kernel's reserve (KernelMargin); undefined: it is not, or there is none. */
  readonly margin?: string | undefined;
}

export interface ReclaimStepFacts {
  readonly name: string;
  /** A program that does not exist; undefined: all exist. */
  readonly missing: string | undefined;
  /** 0: the step has nothing to do on this machine. */
  readonly commands: number;
}

export interface ReclaimFacts {
  readonly steps: readonly ReclaimStepFacts[];
  readonly systemd: boolean;
}

export interface ShutdownFacts {
  /** The delay that the configuration requires. */
  readonly requestedNs: bigint;
  /** undefined: not read, because none is required. */
  readonly delay: InhibitDelay | undefined;
}

export interface RightsFacts {
  readonly isAdministrator: boolean;
  /** Whether SeDebugPrivilege could be enabled. */
  readonly debugPrivilege: boolean | Unseen;
}

/** evictd in the service manager. */
export type WindowsServiceFacts = { readonly state: 'not installed' } | { readonly state: string; readonly pid: number } | Unseen;

/** One of evictd's directories, or a volume that it watches. */
export interface VolumeFacts {
  readonly role: FilesystemRole | 'state' | 'runtime';
  readonly path: string;
  /** undefined: no answer in time. */
  readonly answer:
    | { readonly error: string }
    | { readonly at: string; readonly totalBytes: bigint; readonly availableBytes: bigint }
    | undefined;
  /** Why it is not writable; undefined: it is, or evictd does not write there. */
  readonly refused: string | undefined;
}

export interface ListedWorkload {
  readonly name: string;
  readonly path: string;
  /** Why evictd does not evict it; undefined: it may. */
  readonly unevictable: string | undefined;
}

/** A finding of `config check` on this machine. */
export type LintFacts = Omit<Finding, 'key'> & Partial<Pick<Finding, 'key'>>;

export interface WorkloadFacts {
  /** One for each entry of `workloads`. */
  readonly sources: readonly PresentSource[];
  /** The workloads of all sources. */
  readonly listed: readonly ListedWorkload[];
  /** File descriptors per workload. */
  readonly filesEach: number;
  readonly notices: readonly LintFacts[];
}
