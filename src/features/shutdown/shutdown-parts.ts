import type { ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import type { EndedWorkload } from './shutdown-progress.js';
import type { Workload } from '../../core/workload/workload.js';
import type { Evictor, WorkloadSource } from '../../monitor/ports/ports.js';
import type { ShutdownCourse, ShutdownPlan } from './shutdown-record.js';

export interface ShutdownRunParts {
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly evictor: Evictor;
  /** By workload id: it is being evicted. */
  readonly isEvicted: (id: string) => boolean;
}

export interface ShutdownRunEvents {
  /** Called before the first signal. */
  planned(plan: ShutdownPlan): void;
  ended(ended: EndedWorkload, group: ShutdownGracePeriod): void;
  /** @param late  workloads of groups that were over when they appeared */
  over(course: ShutdownCourse, late: readonly Workload[]): void;
  /** An error that is tried again. Called once. */
  stumbled(reason: string): void;
  /** The error persists, and no further workload is ended. Called instead of `over`. */
  failed(course: ShutdownCourse, reason: string): void;
}
