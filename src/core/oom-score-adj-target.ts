import type { Workload } from './workload.js';

/** The oom_score_adj that the processes of a workload should have. `atLeast`: the value found, where that is higher. */
export interface OomScoreAdjTarget {
  readonly workload: Workload;
  readonly value: number;
  readonly atLeast: 'found' | 'value';
}
