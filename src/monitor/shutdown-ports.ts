import type { ShutdownGracePeriod } from '../core/shutdown-config.js';
import type { EndedWorkload } from '../core/shutdown-progress.js';
import type { Workload } from '../core/workload.js';
import type { Evictor, WorkloadSource } from './ports.js';
import type { ShutdownCourse, ShutdownPlan } from './shutdown-record.js';

/** Whether a shutdown waits for evictd. */
export type ShutdownDelayState =
  | { readonly kind: 'held' }
  /** The machine may go down. Taken again when the shutdown is cancelled. */
  | { readonly kind: 'released' }
  /** There is no logind, or it does not answer. Tried again. */
  | { readonly kind: 'off'; readonly reason: string };

export interface ShutdownEvents {
  /** true: the machine is about to go down, and waits while the delay is held; false: the shutdown is cancelled. */
  prepare(begins: boolean): void;
  changed(state: ShutdownDelayState): void;
}

/** A delay lock on the shutdown of the machine (systemd-logind). */
export interface ShutdownDelay {
  readonly state: ShutdownDelayState;
  /** To be called once. Takes the lock, again whenever it is lost. */
  start(events: ShutdownEvents): void;
  /** Lets the machine go down. May be called twice. */
  release(): void;
  close(): void;
}

/** What a shutdown needs. */
export interface ShutdownRunParts {
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly evictor: Evictor;
  /** By workload id: it is being evicted. */
  readonly isEvicted: (id: string) => boolean;
}

/** The results of a shutdown. */
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
