import type { Compatibility, Departures } from '../core/departure.js';
import type { Platform } from '../core/operating-system.js';
import type { ReclaimStep } from '../core/reclaim-step.js';
import type { Rule } from '../core/rule.js';
import type { ShutdownConfig } from '../core/shutdown-config.js';
import type { Threshold } from '../core/threshold.js';
import type { WorkloadSourceSpec } from '../core/workload-source.js';
import type { SourcePosition } from '../errors.js';
import type { ConfigFlags } from './flags.js';

export type LogFormat = 'auto' | 'text' | 'systemd' | 'json';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How processes are marked for the kernel's OOM killer. `qos`: as the kubelet does; `rank`: in the order of eviction. */
export type OomScoreAdjMode = 'off' | 'qos' | 'rank';

/** The cgroup that all workloads live in, as the kubelet's pods do in one, and how much memory they may have together. */
export interface AllocatableConfig {
  /** Path below the mount of the memory controller. */
  readonly cgroup: string;
  /** Bytes, above 0. */
  readonly capacity: bigint;
}

/** The effective configuration: complete, checked; after loading it cannot be wrong. */
export interface Config {
  readonly compatibility: Compatibility;
  /** Of the compatibility, and what is switched by name. */
  readonly departures: Departures;
  /** Those of the maps by signal, then the list `thresholds` in its order. */
  readonly thresholds: readonly Threshold[];
  /** What a pressure signal without a suffix is the share of. */
  readonly pressureWindowNs: bigint;
  readonly pressureTransitionPeriodNs: bigint;
  /** The cap on the termination grace of a soft eviction. */
  readonly maxPodGracePeriodNs: bigint;
  /** How long who may take to end when the machine goes down. */
  readonly shutdown: ShutdownConfig;
  /** undefined: allocatableMemory.available cannot be read. */
  readonly allocatable: AllocatableConfig | undefined;
  readonly monitoringIntervalNs: bigint;
  /** undefined: the machine. */
  readonly node: { readonly cgroup: string | undefined };
  /** Paths on the filesystems that the signals mean. undefined: imagefs is nodefs, containerfs is imagefs. */
  readonly filesystems: { readonly nodefs: string; readonly imagefs: string | undefined; readonly containerfs: string | undefined };
  readonly workloads: readonly WorkloadSourceSpec[];
  readonly rules: readonly Rule[];
  /** What may be done to free room on a disk before anybody is evicted, in this order. */
  readonly reclaim: readonly ReclaimStep[];
  readonly oomScoreAdj: OomScoreAdjMode;
  /** undefined: no server. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** The files in the state directory, and how large each may become, in bytes. */
  readonly journal: { readonly maxBytes: number; readonly maxFiles: number };
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly log: { readonly format: LogFormat; readonly level: LogLevel };
}

/**
 * Where an effective value was set: a file or flag with its position, or the default. `follows`: nobody has set it, and it is as another key
 * that somebody has set makes it. `copied`: of a hard threshold of memory.available, for allocatableMemory.available.
 */
export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'set'; readonly position: SourcePosition }
  | { readonly kind: 'follows'; readonly key: string; readonly value: unknown; readonly position: SourcePosition }
  | { readonly kind: 'copied'; readonly from: string };

/** A sentence for the operator about the configuration that is not an error. */
export interface ConfigNotice {
  readonly level: 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly position?: SourcePosition;
}

/** What was written: enough to read the configuration again, without the files, and with other flags. */
export interface WrittenConfig {
  /** All that were read, whether or not they set anything, with their settings as plain values, in the order in which the later wins. */
  readonly files: readonly { readonly file: string; readonly settings: unknown }[];
  readonly flags: ConfigFlags;
  /** Left out: Linux. */
  readonly platform?: Platform;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly written: WrittenConfig;
  readonly notices: readonly ConfigNotice[];
  /** By key path as written in a file ('evictionHard.memory.available', 'metrics.listen'): the value as text and where it comes from. */
  readonly origins: ReadonlyMap<string, { readonly value: unknown; readonly origin: Origin }>;
}
