import type { FilesystemPaths } from '../../core/signal/layout.js';
import type { Rule } from '../../core/workload/rule.js';
import type { ShutdownConfig } from '../../core/workload/shutdown-config.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import type { WorkloadSourceSpec } from '../../workloads/kinds/source-spec.js';

/** The parts of a configuration that lint reads. */
export interface LintSubject {
  readonly thresholds: readonly Threshold[];
  readonly pressureTransitionPeriodNs: bigint;
  readonly maxPodGracePeriodNs: bigint;
  readonly monitoringIntervalNs: bigint;
  readonly workloads: readonly WorkloadSourceSpec[];
  readonly rules: readonly Rule[];
  readonly shutdown: ShutdownConfig;
  readonly filesystems: FilesystemPaths;
  readonly allocatable: { readonly cgroup: string; readonly capacity: bigint } | undefined;
  /** The keys that are set, with the value as text: 'evictionMinimumReclaim.memory.available' → '200Mi'. */
  readonly written: ReadonlyMap<string, unknown>;
}
