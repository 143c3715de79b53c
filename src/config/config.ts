import type { EvictionBudget } from '../core/budget/eviction-budget.js';
import type { Compatibility, Departures } from '../core/decide/departures.js';
import type { DisruptionBudget } from '../core/disruption/disruption-budget.js';
import type { PriorityClass } from '../core/disruption/priority-class.js';
import type { Taint } from '../core/disruption/taint.js';
import type { HooksConfig } from '../core/hook/hook.js';
import type { KubernetesConfig } from '../core/kubernetes/kubernetes-config.js';
import type { NotificationsConfig } from '../core/notify/notification.js';
import type { Platform } from '../core/signal/operating-system.js';
import type { ConfiguredPolicy } from '../core/policy/configured-policy.js';
import type { ReclaimStep } from '../core/reclaim/reclaim-step.js';
import type { Rule } from '../core/workload/rule.js';
import type { ShutdownConfig } from '../core/workload/shutdown-config.js';
import type { Threshold } from '../core/threshold/threshold.js';
import type { WorkloadSourceSpec } from '../workloads/kinds/source-spec.js';
import type { SourcePosition } from '../errors.js';
import type { ConfigFlags } from './merge/flags.js';
import type { ConfigNotice } from './value/report.js';

export type { ConfigNotice } from './value/report.js';

export type LogFormat = 'auto' | 'text' | 'systemd' | 'json';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How evictd sets oom_score_adj. `qos`: as the kubelet does; `rank`: in the order of eviction. */
export type OomScoreAdjMode = 'off' | 'qos' | 'rank';

/**
 * The cgroup that contains all workloads, as /kubepods does for the kubelet, and the memory that they may use together.
 */
export interface AllocatableConfig {
  /** Path below the mount of the memory controller. */
  readonly cgroup: string;
  /** Bytes, above 0; undefined: the memory limit of the cgroup, as it is now. */
  readonly capacity: bigint | undefined;
}

/** The effective configuration: complete and valid. */
export interface Config {
  readonly compatibility: Compatibility;
  /** The departures of the compatibility mode, changed by those that are set by name. */
  readonly departures: Departures;
  /** The thresholds of the maps by signal, then the list `thresholds` in order. */
  readonly thresholds: readonly Threshold[];
  /** The time window of a pressure signal without a suffix. */
  readonly pressureWindowNs: bigint;
  readonly pressureTransitionPeriodNs: bigint;
  /** Upper limit of the termination grace period of a soft eviction; below 0: none. */
  readonly maxPodGracePeriodNs: bigint;
  readonly evictionBudget: EvictionBudget;
  readonly shutdown: ShutdownConfig;
  /** undefined: allocatableMemory.available cannot be read. */
  readonly allocatable: AllocatableConfig | undefined;
  readonly monitoringIntervalNs: bigint;
  /** Time from a crossing until the native layer carries out the standing order; 0: there is none. */
  readonly standingOrderAfterNs: bigint;
  /** The maximum length of a pause by an operator; 0: there is none. */
  readonly maxPauseNs: bigint;
  /** cgroup undefined: the whole machine. */
  readonly node: { readonly cgroup: string | undefined };
  /** A path on each filesystem. undefined: imagefs is nodefs, containerfs is imagefs. */
  readonly filesystems: { readonly nodefs: string; readonly imagefs: string | undefined; readonly containerfs: string | undefined };
  readonly workloads: readonly WorkloadSourceSpec[];
  /** Priority classes of the configuration; those of the system are left out. */
  readonly priorityClasses: readonly PriorityClass[];
  readonly rules: readonly Rule[];
  /** Permanent taints. Others are set at run time. */
  readonly taints: readonly Taint[];
  /** Budgets of evictions by an operator. Names are distinct. */
  readonly disruptionBudgets: readonly DisruptionBudget[];
  /** Node-level reclaim: steps that free disk space before an eviction, in order. */
  readonly reclaim: readonly ReclaimStep[];
  /** What to do under conditions of the operator, in order. */
  readonly policies: readonly ConfiguredPolicy[];
  readonly hooks: HooksConfig;
  readonly notifications: NotificationsConfig;
  /** undefined: evictd knows of no API server. */
  readonly kubernetes: KubernetesConfig | undefined;
  readonly oomScoreAdj: OomScoreAdjMode;
  /** After this number of crashes in a row within the time, evictd evicts nothing until it has run for that time; 0: never. */
  readonly safeMode: { readonly crashes: number; readonly withinNs: bigint };
  /** undefined: no server. */
  readonly metrics: { readonly host: string; readonly port: number } | { readonly socket: string } | undefined;
  /** File with the token that clients of the status page and the API must send. undefined: local clients need none. */
  readonly metricsTokenFile: string | undefined;
  /** The group whose members may use the control socket, by name or id. undefined: only root may. */
  readonly controlSocket: { readonly group: string | undefined };
  /** `maxBytes` is per file. */
  readonly journal: { readonly maxBytes: number; readonly maxFiles: number };
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly log: { readonly format: LogFormat; readonly level: LogLevel };
}

/**
 * The origin of an effective value. `set`: a file or flag. `follows`: not set itself, derived from another key that
 * is set. `copied`: copied from a hard threshold of memory.available to allocatableMemory.available.
 */
export type Origin =
  | { readonly kind: 'default' }
  /** `items`: where each item of a list begins, or each test of a condition. */
  | { readonly kind: 'set'; readonly position: SourcePosition; readonly items?: readonly SourcePosition[] }
  | { readonly kind: 'follows'; readonly key: string; readonly value: unknown; readonly position: SourcePosition }
  | { readonly kind: 'copied'; readonly from: string };

/** The configuration as written: enough to load it again without the files, and with other flags. */
export interface WrittenConfig {
  /** Every file that was read, with its settings as plain values; a later one wins. */
  readonly files: readonly { readonly file: string; readonly settings: unknown }[];
  readonly flags: ConfigFlags;
  /** Absent: Linux. */
  readonly platform?: Platform;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly written: WrittenConfig;
  readonly notices: readonly ConfigNotice[];
  /** The value as written and its origin, by key path ('evictionHard.memory.available', 'metrics.listen'). */
  readonly origins: ReadonlyMap<string, { readonly value: unknown; readonly origin: Origin }>;
}
