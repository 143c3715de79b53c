import { targetOf } from '../windows/windows-target.js';
import type { Workload } from '../workload/workload.js';

/** How a workload is ended. */
export interface StopMethod {
  /** The text for a stop with a grace period. */
  readonly ask: string;
  readonly kill: string;
}

const SIGNALS: StopMethod = { ask: 'SIGTERM', kill: 'SIGKILL' };
const PROCESSES: StopMethod = { ask: 'TerminateProcess', kill: 'TerminateProcess' };
const JOB: StopMethod = { ask: 'TerminateJobObject', kill: 'TerminateJobObject' };
const SERVICE: StopMethod = { ask: 'service stop', kill: 'TerminateProcess' };

export function stopMethodOf({ id }: Pick<Workload, 'id'>): StopMethod {
  const target = targetOf(id);
  switch (target?.kind) {
    case undefined:
      return SIGNALS;
    case 'tree':
      return PROCESSES;
    case 'job':
      return JOB;
    case 'service':
      return SERVICE;
  }
}
