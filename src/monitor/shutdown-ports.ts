import type { ShutdownGracePeriod } from '../core/shutdown-config.js';
import type { EndedWorkload } from '../core/shutdown-progress.js';
import type { Workload } from '../core/workload.js';
import type { Evictor, WorkloadSource } from './ports.js';
import type { ShutdownCourse, ShutdownPlan } from './shutdown-record.js';

/** Whether a shutdown would wait for evictd. */
export type ShutdownDelayState =
  | { readonly kind: 'held' }
  /** The machine may go down; taken again when a shutdown is called off. */
  | { readonly kind: 'released' }
  /** Not had: no logind, or it cannot be asked. Tried again. */
  | { readonly kind: 'off'; readonly reason: string };

export interface ShutdownEvents {
  /** true: the machine is about to go down, and waits as long as the delay is held; false: it does not go down any more. */
  prepare(begins: boolean): void;
  changed(state: ShutdownDelayState): void;
}

/** Who takes the machine down and waits for whoever holds a delay lock (systemd-logind). */
export interface ShutdownDelay {
  readonly state: ShutdownDelayState;
  /** Once. Takes the lock, and again whenever it is lost. */
  start(events: ShutdownEvents): void;
  /** Lets the machine go down. Idempotent. */
  release(): void;
  close(): void;
}

/** What one shutdown needs. */
export interface ShutdownRunParts {
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly evictor: Evictor;
  /** By workload id: an eviction has chosen it. */
  readonly isEvicted: (id: string) => boolean;
}

/** What becomes of it. */
export interface ShutdownRunEvents {
  /** Before anybody is told to end. */
  planned(plan: ShutdownPlan): void;
  ended(ended: EndedWorkload, group: ShutdownGracePeriod): void;
  /** @param late  whose turn it would have been, and who were not there then */
  over(course: ShutdownCourse, late: readonly Workload[]): void;
  /** Something has thrown, and is tried again. Once. */
  stumbled(reason: string): void;
  /** It goes on throwing: nobody is ended any more. Instead of `over`. */
  failed(course: ShutdownCourse, reason: string): void;
}
