import type { DiskHoldings } from './disk-holding.js';
import type { DiskHolders } from './held-space.js';
import type { FilesystemRole } from './layout.js';
import type { RuntimePart } from './pod-sandbox.js';
import type { Quantity } from './quantity.js';
import type { Toleration } from './toleration.js';
import type { EmergencyAction, TakesAlong, UnitStop } from './unit-stop.js';
import type { WorkloadDirectory } from './workload-directory.js';

/** From here on the system's own priority classes lie (scheduling.SystemCriticalPriority). */
export const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Why a workload is never evicted. */
export type Protection =
  /** `also`: what protects it besides, which at a shutdown of the machine counts where this does not. Left out: nothing does. */
  | { readonly kind: 'critical'; readonly also?: Protection }
  /** A static or mirror pod: its manifest would start it again. */
  | { readonly kind: 'static' }
  /** evictd, or a process that it descends from, lives in it. */
  | { readonly kind: 'self' }
  /** A pod of a kubelet, which would make it again. */
  | { readonly kind: 'kubelet' }
  /** A unit that the machine needs (docs/systemd.md), and no rule lifts that. */
  | { readonly kind: 'unit'; readonly why: string }
  /** Windows needs a process of it, and no rule lifts that. */
  | { readonly kind: 'system'; readonly why: string }
  /** It asks never to be evicted: ManagedOOMPreference=omit, or user.oomd_omit on its cgroup. */
  | { readonly kind: 'omit'; readonly also?: Protection }
  /** What it asks for has changed since it was ranked. The candidates are read once more. */
  | { readonly kind: 'changed' }
  /** It is not there under its name: it ended, or was renamed. The candidates are read once more. */
  | { readonly kind: 'gone' }
  /** No process lives in it: there is nothing to end. */
  | { readonly kind: 'vacant' }
  /** A container whose name is being looked up, or that no container runtime has told of yet: what it is to the rules is not known. */
  | { readonly kind: 'untold'; readonly what: 'name' | 'pod' }
  /** Its processes, or the units in it, cannot be listed: evictd, or a protected one, might be among them. */
  | { readonly kind: 'unlisted' }
  /** It contains a protected workload, which would die with it. */
  | { readonly kind: 'contains'; readonly name: string }
  /** Outside the node, or the cgroup whose memory is short: evicting it would not help. `cgroup` left out: the node. */
  | { readonly kind: 'outside'; readonly cgroup?: string }
  /** A kill of it failed a moment ago: another candidate's turn. */
  | { readonly kind: 'kill-failed' }
  /** Nothing that it has comes back on the filesystem that is short, or too `little` to help. `filesystem` left out: it has too few process ids. */
  | { readonly kind: 'frees-nothing'; readonly filesystem?: FilesystemRole; readonly little?: true }
  /** What it has there is being measured. */
  | { readonly kind: 'measuring'; readonly filesystem: FilesystemRole }
  | TakesAlong
  | EmergencyAction;

/** What a workload asks of whoever frees memory: systemd's ManagedOOMPreference. */
export type OomPreference = 'avoid' | 'omit';

/** Kubernetes' quality of service class. */
export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Amounts × 10⁹: pods may ask for 100.5 bytes, and the ranking sees the half. 0n: nothing is requested. */
export interface Requests {
  readonly memory: bigint;
  readonly ephemeralStorage: bigint;
  /** Only the ranking by inodes looks at it; Kubernetes has no such resource. */
  readonly inodes: bigint;
}

/** Amounts × 10⁹; undefined: no limit. */
export interface Limits {
  readonly memory: bigint | undefined;
  /** What local storage eviction compares with: of all containers together. */
  readonly ephemeralStorage: bigint | undefined;
}

/** Kubernetes' resource list: 'memory', 'ephemeral-storage', 'cpu', … */
export type ResourceList = ReadonlyMap<string, Quantity>;

export interface Container {
  readonly name: string;
  /** `sidecar`: an init container that restarts always. Ephemeral containers are not listed. */
  readonly kind: 'regular' | 'init' | 'sidecar';
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

/** A volume on local storage. `emptyDir` with a medium other than the default is not on a disk, but its limit counts. */
export interface LocalVolume {
  readonly name: string;
  readonly kind: 'hostPath' | 'emptyDir' | 'configMap' | 'gitRepo';
  /** emptyDir: '' is the default, 'Memory', 'HugePages'. */
  readonly medium: string;
  readonly sizeLimit: Quantity | undefined;
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  /** The generation of the pod that it was seen on; 0n: not told. */
  readonly observedGeneration: bigint;
}

/** What only a pod has. */
export interface PodParts {
  readonly namespace: string;
  readonly containers: readonly Container[];
  readonly volumes: readonly LocalVolume[];
  /** spec.resources, where a supported kind of it is set: it replaces what the containers request. */
  readonly podLevel: { readonly requests: ResourceList; readonly limits: ResourceList } | undefined;
  /** Of all containers and the overhead together; 'ephemeral-storage' is what local storage eviction compares with. */
  readonly limits: ResourceList;
  readonly priorityClassName: string;
  readonly tolerations: readonly Toleration[];
  readonly conditions: readonly PodCondition[];
  /** metadata.generation; 0n: not told. */
  readonly generation: bigint;
}

/** What only a systemd unit has. */
export interface UnitPart {
  /** systemd's name for it: 'batch@1.service'. Not that of its cgroup, which may be escaped. */
  readonly name: string;
  /** A user manager's units are ended by signals only: nobody but its user talks to it. */
  readonly manager: 'system' | 'user';
}

/** The unit of eviction: a pod, or a machine workload. */
export interface Workload {
  /** Unique for ever: a cgroup that is removed and made again under the same name is another workload. A pod's uid. */
  readonly id: string;
  /** Path below its source's root; a pod's name. */
  readonly name: string;
  /** The cgroup's path as the kernel names it ('/workload.slice/web'); a pod's namespace/name. */
  readonly path: string;
  /** Higher is more important; 0 unless a rule says otherwise. */
  readonly priority: number;
  /** As found on its cgroup. Left out: none. */
  readonly oomPreference?: OomPreference;
  /** It goes after all that do not have this, whatever they use: it asks to be avoided, and no rule gives it a priority. Left out: no. */
  readonly avoid?: true;
  /** What counts against its usage: for a pod with overhead, init containers and pod-level resources taken into account. */
  readonly requests: Requests;
  readonly limits: Limits;
  readonly qosClass: QosClass;
  /** How long the workload may take to end after SIGTERM; undefined: no wish of its own. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** Grows with the time of creation; larger is younger. For cgroups the kernel's cgroup id, for pods the start time. */
  readonly startOrder: bigint;
  readonly protection: Protection | undefined;
  /** undefined: a machine workload. */
  readonly pod: PodParts | undefined;
  /** Left out: it is no unit of systemd, or not known as one. */
  readonly unit?: UnitPart;
  /** That rules name as its own. Left out: none. */
  readonly directories?: readonly WorkloadDirectory[];
  /** Left out: no container runtime has told of it. */
  readonly runtime?: RuntimePart;
  /** Windows: what rules match instead of the path, the file that its first process runs. Left out: it is the path. */
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

/** What a workload uses, as far as it is known. undefined is not zero. */
export interface WorkloadStats {
  /** usage − inactive_file, floored at 0: what the ranking compares. */
  readonly workingSetBytes: bigint | undefined;
  /** There are statistics of its memory, and the working set is missing in them: in a message the kubelet calls it 0. */
  readonly memoryWithoutWorkingSet?: true;
  /** The page cache included: what a kill may give back. */
  readonly usageBytes: bigint | undefined;
  readonly processes: bigint | undefined;
  /** A pod's whole local storage. */
  readonly ephemeralStorageBytes: bigint | undefined;
  /** What only its images have on an image filesystem that nothing else is on: images that others use stay there whoever goes. Left out: not known. */
  readonly images?: FilesystemUsage;
  readonly containers: readonly ContainerStats[];
  readonly volumes: readonly VolumeStats[];
  /** What a machine workload has on disks. Left out: nobody measures that. */
  readonly disks?: DiskHoldings;
}

export interface WorkloadUsage {
  readonly workload: Workload;
  /** undefined: nothing is known about it. */
  readonly stats: WorkloadStats | undefined;
}

/** A workload that could not be read: left out of the ranking, and said. */
export interface UnreadableWorkload {
  readonly name: string;
  readonly path: string;
  readonly reason: string;
}

/** The machine goes down, and nobody wants it back who is ended. */
export interface ShutdownTurn {
  /** When the turn of its group came, monotonic clock: what was found out since then is sure for all of it. */
  readonly sinceNs: bigint;
}

export interface Candidates {
  /** In the order in which they were handed over. */
  readonly usages: readonly WorkloadUsage[];
  readonly unreadable: readonly UnreadableWorkload[];
  /** A last look at the one that would go, by what lives in it now: to look at all takes long. Left out: nothing is against any. */
  readonly veto?: (workload: Workload) => Protection | undefined;
  /**
   * Whether something that decides over it is going to be known in a moment: it is waited for, no longer than `withinNs` altogether: since it was first asked about, or since
   * `shutdown.sinceNs`. Left out: nothing is.
   */
  readonly awaited?: (workload: Workload, withinNs: bigint, shutdown?: ShutdownTurn) => boolean;
  /** How a unit of systemd's system manager is ended; undefined: it is none. Left out: there are no such units. */
  readonly stop?: (workload: Workload, shutdown?: ShutdownTurn) => UnitStop | undefined;
  /** How many process ids each has, by workload id: read now, which takes a while. Left out: the usages have all that is known. */
  readonly processes?: () => ReadonlyMap<string, bigint>;
  /** What each has on disks, by path: asked only where a disk is short. Left out: the usages have all that is known. */
  readonly holdings?: (path: string) => DiskHoldings;
  /** Whom the pass left out because no process lives in them, with what is still on their account. Left out: the pass does not tell, `veto` does. */
  readonly vacant?: () => readonly WorkloadUsage[];
  /** Container runtimes of the sources, by endpoint, that have not told of anything yet: their workloads are not among these. Left out: there is none. */
  readonly awaitedRuntimes?: readonly string[];
  /** What holds disks, whoever's it is. Left out: nobody has looked. */
  readonly holders?: DiskHolders;
  /** When the pass over the cgroups was made, monotonic clock. */
  readonly timeNs: bigint;
}
