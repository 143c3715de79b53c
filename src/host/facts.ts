import type { FilesystemRole } from '../core/signal/layout.js';
import type { Threshold } from '../core/threshold/threshold.js';

/** A fact that could not be read, with the reason. */
export interface Unseen {
  readonly unseen: string;
}

export function isUnseen(fact: unknown): fact is Unseen {
  return typeof fact === 'object' && fact !== null && 'unseen' in fact;
}

/** `null` in a feature: could not be tested. */
export interface KernelFacts {
  /** `uname -r`: '6.1.0-56-amd64' */
  readonly release: string;
  readonly features: Readonly<Record<KernelFeature, boolean | null>>;
}

/** Features that evictd uses if the kernel has them. */
export type KernelFeature = 'pidfd' | 'cgroup.kill' | 'process_mrelease';

/** Pressure stall information. */
export interface PressureFacts {
  /** `absent`: no /proc/pressure. `off`: reading it fails with EOPNOTSUPP. */
  readonly state: 'on' | 'off' | 'absent';
  /** The setting in /boot/config-RELEASE or /proc/config.gz; undefined: neither exists. */
  readonly built: 'on' | 'off by default' | 'without' | undefined;
  /** `psi=` on the kernel command line. */
  readonly parameter: string | undefined;
  /** The shortest window that the kernel accepts from this process, or why it refuses; undefined: not tested. */
  readonly window: { readonly shortestUs: number } | { readonly refused: string } | undefined;
}

/** Bytes. */
/** undefined: not readable. */
export interface MemoryFacts {
  readonly overcommitMemory: number | undefined;
  /** 0: not readable. */
  readonly totalBytes: bigint;
  readonly commitLimitBytes: bigint | undefined;
  readonly swapBytes: bigint | undefined;
  /** The names in /proc/swaps. */
  readonly swaps: readonly string[] | undefined;
  readonly swappiness: number | undefined;
}

export interface KernelLogFacts {
  /** Why this process cannot read /dev/kmsg; undefined: it can. */
  readonly refused: string | undefined;
  /** kernel.dmesg_restrict. */
  readonly restricted: boolean | undefined;
}

export interface ClockFacts {
  readonly bootId: string | undefined;
  /** CLOCK_BOOTTIME; undefined: no addon. */
  readonly bootTimeNs: bigint | undefined;
}

/** The cgroup filesystem as this process sees it. */
export interface CgroupFacts {
  /** The mount of the memory controller; undefined: none. */
  readonly memory: { readonly version: 1 | 2; readonly mountPoint: string } | undefined;
  /** Whether cgroup2 is mounted, with or without controllers. */
  readonly unified: boolean;
  /** Whether the mount shows the machine's root cgroup. */
  readonly rootVisible: boolean;
  readonly writable: boolean;
  /** Whether this process is in the initial namespaces; undefined: unknown. */
  readonly namespaces: Readonly<Record<'cgroup' | 'pid' | 'user', 'initial' | 'own' | undefined>>;
  /** The parents of workloads; empty on v1, where every cgroup has the controller. */
  readonly delegations: readonly DelegationFacts[];
  /** The cgroup of all pods of a kubelet, and the smallest memory limit of it and its ancestors. undefined: no workload is in one. */
  readonly pods: { readonly path: string; readonly limitBytes: bigint | undefined } | undefined;
}

/**
 * Whether the memory controller is enabled for the children of a cgroup (cgroup.subtree_control of it and of its
 * ancestors).
 */
export interface DelegationFacts {
  readonly path: string;
  /** The topmost cgroup that does not enable it; undefined: all do. */
  readonly stopsAt: string | undefined;
}

/** The process whose rights, limits and protection count: the evictd that guards the node, otherwise this process. */
export interface SubjectFacts {
  readonly kind: 'running' | 'this process';
  readonly pid: number;
  readonly uid: number | Unseen;
  /** CapEff. */
  readonly effective: bigint | Unseen;
  /** Soft limits; Infinity: none. */
  readonly limits: { readonly openFiles: number; readonly lockedBytes: number } | Unseen;
  readonly oomScoreAdj: number | Unseen;
  /** Its memory cgroup and the ancestors without the root, nearest first; undefined: cgroup v1, or not visible. */
  readonly cgroups: readonly CgroupProtection[] | undefined;
}

export interface CgroupProtection {
  readonly path: string;
  /** memory.min; undefined: not readable. */
  readonly minBytes: bigint | undefined;
  readonly usageBytes: bigint | undefined;
}

export interface RuntimeFacts {
  readonly node: string;
  /** 'x64', 'arm64'. */
  readonly arch: string;
  /** NODE_MODULE_VERSION and the version of Node-API. */
  readonly abi: string;
  readonly napi: string;
  readonly addon: { readonly file: string } | { readonly failure: string; readonly hint: string | undefined };
}

/** The result of the last reload: a line for each error; undefined: accepted, or no reload. */
export type ReloadFacts = { readonly refused: readonly string[] | undefined } | Unseen;

/** The evictd that guards this node. */
export type InstanceFacts =
  | { readonly kind: 'running'; readonly pid: number; readonly version: string | undefined }
  | {
      readonly kind: 'none';
      /** The process of a dry run. */
      readonly dryRun?: number;
    }
  | { readonly kind: 'unseen'; readonly unseen: string };

/** The properties of evictd.service. */
export type ServiceFacts =
  | { readonly kind: 'no systemd' }
  | { readonly kind: 'unseen'; readonly unseen: string }
  | { readonly kind: 'unit'; readonly properties: Readonly<Record<string, string>> };

/** Whether systemd is the init of this machine, as far as known. */
export function hasSystemd({ kind }: ServiceFacts): boolean {
  return kind !== 'no systemd';
}

/** One of evictd's directories, or a filesystem that it watches. */
export interface DirectoryFacts {
  readonly role: FilesystemRole | 'state' | 'runtime';
  readonly path: string;
  /** The container runtime reported the path; otherwise it is configured. */
  readonly isReported: boolean;
  /** undefined: no answer in time. */
  readonly answer: DirectoryAnswer | undefined;
}

export type DirectoryAnswer =
  | { readonly kind: 'error'; readonly error: string }
  | {
      readonly kind: 'there';
      /** The path, or its nearest ancestor that exists. */
      readonly at: string;
      readonly afterMs: number;
      /** statfs's f_type. */
      readonly type: number;
      readonly device: bigint;
      readonly totalBytes: bigint;
      /** The bytes that an unprivileged process can use. */
      readonly availableBytes: bigint;
      /** Why it is not writable; undefined: it is. */
      readonly refused: string | undefined;
      /** The size of the files that evictd would create there at start-up. */
      readonly toMakeBytes: bigint;
    };

export interface FilesystemFacts {
  /** Empty without the addon. */
  readonly directories: readonly DirectoryFacts[];
  /** The limit for each answer. */
  readonly timeoutMs: number;
}

export type DaemonName = 'systemd-oomd' | 'earlyoom' | 'nohang' | 'oomd' | 'lmkd' | 'kubelet';

/** Another daemon that ends processes when memory runs short. */
export interface DaemonFacts {
  readonly name: DaemonName;
  readonly pid: number;
  /** The unit of its cgroup: 'earlyoom.service'. */
  readonly unit: string | undefined;
  readonly arguments: readonly string[] | Unseen;
  /** nohang: its configuration file. systemd-oomd: the output of oomctl. */
  readonly settings: string | Unseen;
  /** kubelet: its thresholds; undefined: unknown. */
  readonly thresholds: readonly Threshold[] | undefined;
}

export interface DaemonsFacts {
  readonly found: readonly DaemonFacts[];
  /** Why some processes are not visible; undefined: all are. */
  readonly hidden: string | undefined;
}
