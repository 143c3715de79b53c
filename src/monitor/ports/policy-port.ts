import type { PolicyEffect, PolicyResult } from '../../core/policy/policy-action.js';
import type { PolicyReadings, ScopeReading } from '../../core/policy/scope-reading.js';
import type { WorkloadProcess } from '../../core/workload/process.js';
import type { Workload } from '../../core/workload/workload.js';

/** What a step has asked of policies. Left out: not asked for. */
export interface PolicyAnswers {
  /** The scopes. undefined: not readable. */
  readonly policyReadings?: PolicyReadings | undefined;
  /** The scopes once more, after the candidates. */
  readonly policyRecheck?: PolicyReadings | undefined;
  /** Cgroups that a victim was chosen from. */
  readonly policyWorkloads?: readonly ScopeReading[];
  /** Processes that a victim was chosen from. */
  readonly policyProcesses?: readonly WorkloadProcess[];
}

/** What policies read and do, besides evictions. Never throws. */
export interface PolicyPort {
  /** How fast memory may be filled from a rest; Infinity: not known. */
  readonly bytesPerSecond: number;
  /** Pressure of the node, as 'memory.pressure.full', that wakes evictd at a part of the limit of any condition. */
  readonly watchedPressure: ReadonlySet<string>;
  /** One pass over the scopes of all policies, or that of a moment ago. undefined: nothing could be read. */
  read(how?: 'anew'): PolicyReadings | undefined;
  /** The values that victims are compared by, of these cgroups. What could not be read is left out. */
  workloads(paths: readonly string[]): readonly ScopeReading[];
  /** The processes of these workloads that may be ended alone, of the first workloads where there are very many. */
  processes(workloads: readonly Workload[]): readonly WorkloadProcess[];
  /**
   * Begins an action and returns. `unthrottle` and `thaw` are done when it returns; what cannot be given back is tried
   * again until the cgroup is gone.
   */
  perform(effect: PolicyEffect): void;
  /** What has become of actions since the last call, in order. */
  results(): readonly PolicyResult[];
  /** Gives everything back. */
  close(): void;
}
