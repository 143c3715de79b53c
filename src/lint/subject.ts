import type { FilesystemPaths } from '../core/layout.js';
import type { Rule } from '../core/rule.js';
import type { ShutdownConfig } from '../core/shutdown-config.js';
import type { Threshold } from '../core/threshold.js';
import type { WorkloadSourceSpec } from '../core/workload-source.js';

/** What a configuration says, as far as it is looked at here. */
export interface LintSubject {
  readonly thresholds: readonly Threshold[];
  readonly pressureTransitionPeriodNs: bigint;
  readonly maxPodGracePeriodNs: bigint;
  readonly monitoringIntervalNs: bigint;
  readonly workloads: readonly WorkloadSourceSpec[];
  readonly rules: readonly Rule[];
  readonly shutdown: ShutdownConfig;
  readonly filesystems: FilesystemPaths;
  /** What allocatableMemory.available is about; undefined: nothing here. */
  readonly allocatable: { readonly cgroup: string; readonly capacity: bigint } | undefined;
  /** The keys that somebody has set, with the value as text: 'evictionMinimumReclaim.memory.available' → '200Mi'. */
  readonly written: ReadonlyMap<string, unknown>;
}
