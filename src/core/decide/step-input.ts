import type { MemoryHoldings } from '../budget/growth-base.js';
import type { Decision, VictimReading } from './eviction.js';
import type { OperatorRequest } from '../disruption/operator-request.js';
import type { Layout } from '../signal/layout.js';
import type { Observations } from '../signal/observation.js';
import type { PauseRequest } from '../pause/operator-pause.js';
import type { ReclaimReading } from '../reclaim/reclaim.js';
import type { HoldChange } from '../systemd/restart-storm.js';
import type { PolicyResult } from '../policy/policy-action.js';
import type { PolicyReadings, ScopeReading } from '../policy/scope-reading.js';
import type { WorkloadProcess } from '../workload/process.js';
import type { Candidates, Workload } from '../workload/workload.js';

/** Everything that a step reads. A recording of it (recording/recording-format.ts) replays the run. */
export interface StepInput {
  /** Monotonic; not before the observations. */
  readonly nowNs: bigint;
  /** Or why it is not known. */
  readonly layout: Layout | { readonly error: string };
  /**
   * Reads the node. Victims are read before, so that their freed memory is included. undefined: unreadable. Not called
   * when there is nothing to decide.
   */
  readonly observe: () => Observations | undefined;
  /** The reading of each eviction in flight, by serial. */
  readonly victims: ReadonlyMap<number, VictimReading>;
  /** The result of `state.reclaiming`; undefined: no reclaim is in progress, or it has not ended. */
  readonly reclaimed: ReclaimReading | undefined;
  /** The native layer has carried out a standing order, and no step knows of it yet. Left out: it has not. */
  readonly ordered?: Decision;
  /** An operator asks evictd to evict again after a pause; `by` as in DisruptionCause. Left out: not now. */
  readonly resumed?: { readonly by?: string | undefined };
  /** An operator asks evictd to pause evictions. Left out: not now. */
  readonly pause?: PauseRequest;
  /** What else an operator asks for. Left out: nothing. */
  readonly request?: OperatorRequest;
  /** CLOCK_BOOTTIME at `nowNs`. Left out: there is no pause, and no NoExecute taint. */
  readonly bootNs?: bigint;
  /** systemd cannot be reached: held units stay stopped. */
  readonly unitsOutOfReach?: boolean;
  /** Changes of units that are kept stopped, by unit name. */
  readonly holdChanges?: ReadonlyMap<string, HoldChange>;
  /**
   * Reads the node once more after the candidates: a workload may have ended since, and with it the shortage.
   * undefined: unreadable. Left out: not available.
   */
  readonly recheck?: () => Observations | undefined;
  /** Reads the scopes of all policies. undefined: they cannot be read. Left out: there are no policies. */
  readonly policyReadings?: () => PolicyReadings | undefined;
  /** The readings of the policies, read again after the candidates. Left out: not available. */
  readonly policyRecheck?: () => PolicyReadings | undefined;
  /** Reads the values that victims are compared by, of these cgroups. Called only while a condition holds. */
  readonly policyWorkloads?: (paths: readonly string[]) => readonly ScopeReading[];
  /** Reads the processes of these workloads that may be ended alone. Called only for a step that ends one. */
  readonly policyProcesses?: (workloads: readonly Workload[]) => readonly WorkloadProcess[];
  /** What has become of the actions of policies since the step before. Left out: nothing new. */
  readonly policyResults?: readonly PolicyResult[];
  /**
   * Reads what holds memory outside the workloads: after an eviction for memory, and when evictd stops evicting for it.
   * undefined: cannot be read. Left out: not available.
   */
  readonly outside?: (above: ReadonlySet<string>) => MemoryHoldings | undefined;
  /** Reads all candidates. Called only when a workload must be evicted, or when storage limits are enforced. */
  readonly candidates: () => Candidates;
}
