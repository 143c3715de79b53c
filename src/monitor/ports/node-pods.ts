import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { SourceProblem } from './source-problem.js';

/** The pods of this node, as the API server of the cluster has reported them. Nothing here waits or throws. */
export interface NodePods {
  /** The same array while nothing has changed. */
  pods(): readonly NodePod[];
  /** Also true of the pods that an earlier run has saved. */
  readonly hasReported: boolean;
  /** How long ago the API server has confirmed them; undefined: never. */
  ageNs(): bigint | undefined;
  /** Why they may be out of date, or incomplete. */
  problem(): SourceProblem | undefined;
}
