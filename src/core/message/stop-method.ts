import { targetOf } from '../windows/windows-target.js';
import type { Workload } from '../workload/workload.js';

/** How a workload is ended. */
export interface Means {
  /** With a grace period. */
  readonly ask: string;
  readonly kill: string;
}

const SIGNALS: Means = { ask: 'SIGTERM', kill: 'SIGKILL' };
const PROCESSES: Means = { ask: 'TerminateProcess', kill: 'TerminateProcess' };
const JOB: Means = { ask: 'TerminateJobObject', kill: 'TerminateJobObject' };
const SERVICE: Means = { ask: 'service stop', kill: 'TerminateProcess' };

export function meansOf({ id }: Pick<Workload, 'id'>): Means {
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
