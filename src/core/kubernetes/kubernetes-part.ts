/** Its endpoint in `Candidates.awaitedRuntimes`. */
export const API_SERVER = 'kubernetes';

/** What only a workload that is a pod of the API server has. Its path is the pod's cgroup. */
export interface KubernetesPart {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As the API has it: a rule wins. */
  readonly priority: number;
  /** The rest of it, where the pod is being deleted. Left out: none. */
  readonly terminationGracePeriodNs?: bigint;
}
