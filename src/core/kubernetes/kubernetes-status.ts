/** What is known of the API server and of its pods, for status and metrics. */
export interface KubernetesStatus {
  readonly nodeName: string;
  /** Its address; undefined: not known yet. */
  readonly server: string | undefined;
  /** The last list or watch of the pods was answered. false before the first answer. */
  readonly answers: boolean;
  /** Why it does not answer, or which pod cannot be read; undefined: nothing is wrong. */
  readonly problem: string | undefined;
  readonly pods: number;
  /** Evicted pods that are not deleted at the API server yet. */
  readonly pendingDeletions: number;
  /** Time since the API server has confirmed them; undefined: never. */
  readonly podsAgeNs: bigint | undefined;
  /** How often all pods were listed. */
  readonly lists: number;
  /** Answers by method and code; 'none': no answer. */
  readonly requests: readonly (readonly [count: number, method: string, code: string])[];
}
