/** The API server in `Candidates.awaitedRuntimes`. */
export const API_SERVER = 'kubernetes';

/** What only a workload that is a pod of the API server has. The path of the workload is the pod's cgroup. */
export interface KubernetesPart {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The pod's; that of a rule comes first. */
  readonly priority: number;
  /** The controller that replaces it. Left out: none. */
  readonly owner?: { readonly kind: string; readonly name: string };
  /** The pod's; while the pod is deleted that of the deletion, if it is shorter. Left out: none. */
  readonly terminationGracePeriodNs?: bigint;
}
