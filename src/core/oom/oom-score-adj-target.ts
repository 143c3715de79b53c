import type { Workload } from '../workload/workload.js';

/**
 * The oom_score_adj for a workload's processes. `atLeast: 'found'`: only the process's own value is kept where it is
 * higher.
 */
export interface OomScoreAdjTarget {
  readonly workload: Workload;
  readonly value: number;
  readonly atLeast: 'found' | 'value';
}
