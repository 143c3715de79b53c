import type { DiskHoldings } from '../disk/disk-amount.js';
import type { DiskHolders } from '../disk/filesystem-holders.js';
import type { FilesystemRole } from '../signal/layout.js';
import type { KubernetesPart } from '../kubernetes/kubernetes-part.js';
import type { RuntimePart } from './pod-sandbox.js';
import type { Quantity } from '../quantity/quantity.js';
import type { Toleration } from '../disruption/toleration.js';
import type { UnitPart } from '../systemd/unit.js';
import type { EmergencyAction, ProtectedDependant, UnitStop } from '../systemd/unit-stop.js';
import type { WorkloadDirectory } from './workload-directory.js';

/** The system's own priority classes begin here (scheduling.SystemCriticalPriority). */
export const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Why a workload is never evicted. */
export type Protection =
  /** `also`: another reason, which counts at a shutdown where this one does not. Left out: none. */
  | { readonly kind: 'critical'; readonly also?: Protection }
  /** A static or mirror pod: its manifest would start it again. */
  | { readonly kind: 'static' }
  /** It contains evictd or an ancestor process of evictd. */
  | { readonly kind: 'self' }
  /** A kubelet's pod, or the cgroup of all pods or of a QoS class: the kubelet would start them again. */
  | { readonly kind: 'kubelet' }
  /** A unit that the machine needs, by this name or pattern of the list (docs/systemd.md). */
  | { readonly kind: 'unit'; readonly rule: string; readonly why: string }
  /** It contains a process that Windows needs. */
  | { readonly kind: 'system'; readonly why: string }
  /** ManagedOOMPreference=omit, or user.oomd_omit on its cgroup. */
  | { readonly kind: 'omit'; readonly also?: Protection }
  /** Its preference changed after the ranking. The candidates are read again. */
  | { readonly kind: 'changed' }
  /** It ended or was renamed. The candidates are read again. */
  | { readonly kind: 'removed' }
  /** It has no process. */
  | { readonly kind: 'vacant' }
  /** A container whose name or pod is not known, yet or for good, so rules cannot be applied to it. */
  | { readonly kind: 'unreported'; readonly what: 'name' | 'lost name' | 'pod' }
  /** Its processes or units cannot be listed: evictd or a protected unit may be among them. */
  | { readonly kind: 'unlisted' }
  /** It contains a protected workload. */
  | { readonly kind: 'contains'; readonly name: string }
  /** Outside the node, or outside the cgroup that is short: evicting it would not help. `cgroup` left out: the node. */
  | { readonly kind: 'outside'; readonly cgroup?: string }
  /** evictionBudget permits no other eviction of workloads with at least this priority. `minPriority` left out: of any. */
  | { readonly kind: 'budget'; readonly minPriority?: number | undefined }
  /** Killing it failed a moment ago. */
  | { readonly kind: 'kill-failed' }
  /** An operator has paused its eviction. */
  | { readonly kind: 'paused'; readonly reason: string }
  /** The last eviction freed too little, and this workload has not grown since. */
  | { readonly kind: 'no-yield' }
  /**
   * Evicting it would free nothing, or too `little`, on the filesystem that is short. `filesystem` left out: process
   * ids.
   */
  | { readonly kind: 'frees-nothing'; readonly filesystem?: FilesystemRole; readonly little?: true }
  /** Its usage of the filesystem is being measured. */
  | { readonly kind: 'measuring'; readonly filesystem: FilesystemRole }
  | ProtectedDependant
  | EmergencyAction;

/** Whether a lookup that is under way decides if this protection stays. */
export function isAwaited(protection: Protection | undefined): boolean {
  return protection?.kind === 'unreported' && protection.what !== 'lost name';
}

/** systemd's ManagedOOMPreference. */
export type OomPreference = 'avoid' | 'omit';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** × 10⁹: a pod may request 100.5 bytes, and the ranking sees the half. 0n: no request. */
export interface Requests {
  readonly memory: bigint;
  readonly ephemeralStorage: bigint;
  /** Inodes, for the ranking by inodes only; Kubernetes has no such resource. */
  readonly inodes: bigint;
}

/** × 10⁹; undefined: no limit. */
export interface Limits {
  readonly memory: bigint | undefined;
  /** The sum of all containers, for local storage eviction. */
  readonly ephemeralStorage: bigint | undefined;
}

/** Kubernetes' resource list: 'memory', 'ephemeral-storage', 'cpu', … */
export type ResourceList = ReadonlyMap<string, Quantity>;

export interface Container {
  readonly name: string;
  /** `sidecar`: an init container with restartPolicy Always. Ephemeral containers are not listed. */
  readonly kind: 'regular' | 'init' | 'sidecar';
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

/**
 * A volume on local storage. An `emptyDir` with another medium than the default is not on a disk, but its limit counts.
 */
export interface LocalVolume {
  readonly name: string;
  readonly kind: 'hostPath' | 'emptyDir' | 'configMap' | 'gitRepo';
  /** emptyDir: '' is the default; 'Memory', 'HugePages'. */
  readonly medium: string;
  readonly sizeLimit: Quantity | undefined;
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  /** The generation of the pod it was seen on; 0n: not reported. */
  readonly observedGeneration: bigint;
}

export interface PodParts {
  readonly namespace: string;
  readonly containers: readonly Container[];
  readonly volumes: readonly LocalVolume[];
  /** spec.resources, if it has a supported resource: it replaces the containers' requests. */
  readonly podLevel: { readonly requests: ResourceList; readonly limits: ResourceList } | undefined;
  /** The sum of all containers and the overhead; 'ephemeral-storage' is for local storage eviction. */
  readonly limits: ResourceList;
  readonly priorityClassName: string;
  /** Left out: not set. */
  readonly preemptionPolicy?: 'PreemptLowerPriority' | 'Never';
  readonly tolerations: readonly Toleration[];
  readonly conditions: readonly PodCondition[];
  /** metadata.generation; 0n: not reported. */
  readonly generation: bigint;
}

/** The unit of eviction: a pod or a machine workload. */
export interface Workload {
  /** Never reused: a cgroup recreated under its name is another workload. A pod's uid. */
  readonly id: string;
  /** The path below its source's root; a pod's name. */
  readonly name: string;
  /** The cgroup's path ('/workload.slice/web'); a pod's namespace/name. */
  readonly path: string;
  /** Higher is more important. The default is 0. */
  readonly priority: number;
  /** The preference of its cgroup. Left out: none. */
  readonly oomPreference?: OomPreference;
  /**
   * It ranks after all workloads without this: it has ManagedOOMPreference=avoid or is a login session, and no rule
   * gives it a priority. Left out: no.
   */
  readonly avoid?: true;
  /** Subtracted from its usage. For a pod it includes overhead, init containers and pod-level resources. */
  readonly requests: Requests;
  readonly limits: Limits;
  readonly qosClass: QosClass;
  /** undefined: none of its own. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** Grows with creation; larger is younger. The kernel's cgroup id, or a pod's start time. */
  readonly startOrder: bigint;
  readonly protection: Protection | undefined;
  /** undefined: a workload of this machine, also one that is a pod with a cgroup. */
  readonly pod: PodParts | undefined;
  /** Left out: not a systemd unit, or not known as one. */
  readonly unit?: UnitPart;
  /** Directories that rules give it. Left out: none. */
  readonly directories?: readonly WorkloadDirectory[];
  /** Tolerations that rules give it. Left out: none. A pod has its own. */
  readonly tolerations?: readonly Toleration[];
  /** Left out: no container runtime has reported it. */
  readonly runtime?: RuntimePart;
  /** Left out: not a pod that the API server of a cluster has reported. */
  readonly kubernetes?: KubernetesPart;
  /** Windows: the program of its first process, which rules match instead of the path. Left out: the path. */
  readonly program?: string;
}

export interface FilesystemUsage {
  readonly usedBytes: bigint | undefined;
  readonly inodesUsed: bigint | undefined;
}

export interface ContainerStats {
  readonly name: string;
  readonly workingSetBytes: bigint | undefined;
  /** The writable layer. */
  readonly rootfs: FilesystemUsage | undefined;
  readonly logs: FilesystemUsage | undefined;
}

export interface VolumeStats extends FilesystemUsage {
  readonly name: string;
}

/** undefined: not known, which is not zero. */
export interface WorkloadStats {
  /**
   * usage − inactive_file, at least 0. The ranking compares it. Of a cgroup with departure `reclaimable-cache` also −
   * active_file.
   */
  readonly workingSetBytes: bigint | undefined;
  /**
   * The part of the working set that stays when its processes have ended: shared memory that no process maps, such as files
   * on a tmpfs. Left out: none, or not known.
   */
  readonly staysBytes?: bigint;
  /** Swap that it uses. The ranking for swap and pressure adds it. Left out: none, or not known. */
  readonly swapBytes?: bigint;
  /** The working set is at most that: the pass has read only the usage. `Candidates.measure` reads the rest. */
  readonly workingSetAtMost?: true;
  /** Memory statistics without a working set. The kubelet's message calls it 0. */
  readonly memoryWithoutWorkingSet?: true;
  /** Includes the page cache: what a kill may free. */
  readonly usageBytes: bigint | undefined;
  readonly processes: bigint | undefined;
  /** A pod's local storage. */
  readonly ephemeralStorageBytes: bigint | undefined;
  /**
   * Images that only this workload uses, on a dedicated image filesystem. Shared images stay after an eviction. Left
   * out: not known.
   */
  readonly images?: FilesystemUsage;
  readonly containers: readonly ContainerStats[];
  readonly volumes: readonly VolumeStats[];
  /** Disk use of a machine workload. Left out: not measured. */
  readonly disks?: DiskHoldings;
}

export interface WorkloadUsage {
  readonly workload: Workload;
  /** undefined: not known. */
  readonly stats: WorkloadStats | undefined;
}

/** It is reported, and not ranked. */
export interface UnreadableWorkload {
  readonly name: string;
  readonly path: string;
  readonly reason: string;
}

/** A shutdown is in progress: ended workloads need not come back. */
export interface ShutdownGroupStart {
  /** When its group began (monotonic). What was read since then is certain for the whole group. */
  readonly sinceNs: bigint;
}

/** When a unit is to be stopped. */
export interface StopQuestion {
  readonly shutdown?: ShutdownGroupStart;
  /** Its processes are killed at once, and systemd is asked later, when it is sure what depends on it: what is known counts. */
  readonly asKnown?: boolean;
}

export interface Candidates {
  /** Usages in the given order. */
  readonly usages: readonly WorkloadUsage[];
  readonly unreadable: readonly UnreadableWorkload[];
  /**
   * Reads what the pass left out of a workload with `workingSetAtMost`, and puts it into `usages`. undefined: it cannot be
   * read. Left out: the pass has read all.
   */
  readonly measure?: (workload: Workload) => WorkloadStats | undefined;
  /** Checks the victim's processes now; checking all candidates would take long. Left out: no objection. */
  readonly veto?: (workload: Workload) => Protection | undefined;
  /**
   * Whether facts about a workload arrive in a moment. The total wait is at most `withinNs`, since the first call or
   * since `shutdown.sinceNs`. Left out: never.
   */
  readonly awaited?: (workload: Workload, withinNs: bigint, shutdown?: ShutdownGroupStart) => boolean;
  /** How systemd stops a unit; undefined: not a unit of the system manager. Left out: there are no units. */
  readonly stop?: (workload: Workload, when?: StopQuestion) => UnitStop | undefined;
  /** Counts by workload id. Reads now, which takes a while. Left out: the usages have the counts. */
  readonly processes?: () => ReadonlyMap<string, bigint>;
  /** Disk use by path. Called only for disk signals. Left out: the usages have it. */
  readonly holdings?: (path: string) => DiskHoldings;
  /** Workloads without processes, with the memory still charged to them. Left out: only `veto` reports them. */
  readonly vacant?: () => readonly WorkloadUsage[];
  /** Endpoints of container runtimes that have not answered yet, so that their workloads are missing. Left out: none. */
  readonly awaitedRuntimes?: readonly string[];
  /** What holds space on disks. Left out: not measured. */
  readonly holders?: DiskHolders;
  /**
   * What is in units with ManagedOOM settings: victims of the policies that these settings make, and of nothing else.
   * `veto` and `stop` know them. Reads now. Left out: no source selects them.
   */
  readonly managed?: () => readonly WorkloadUsage[];
  /** When the pass over the cgroups was made (monotonic). */
  readonly timeNs: bigint;
}

export const NO_CANDIDATES: Candidates = { usages: [], unreadable: [], timeNs: 0n };
