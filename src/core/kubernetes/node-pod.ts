import type { KubernetesPart } from './kubernetes-part.js';
import type { Workload } from '../workload/workload.js';

/** A pod of this node as the API server has reported it. */
export interface NodePod {
  readonly uid: string;
  /** The kubelet names the pod's cgroup for it. Another one than `uid` for a mirror pod: that of the static pod. */
  readonly cgroupUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly workload: Workload;
  /** 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'; '': not reported. */
  readonly phase: string;
  /** Its grace period, once it is being deleted. Left out: it is not. */
  readonly deletionSeconds?: number;
  /** The controller that replaces it. Left out: none. */
  readonly owner?: KubernetesPart['owner'];
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
}
