/** What is known of the API server and of its pods, for status and metrics. */
export interface KubernetesStatus {
  readonly nodeName: string;
  /** Its address; undefined: not known yet. */
  readonly server: string | undefined;
  /** The last request of the list or watch of pods was answered, as far as one is over. */
  readonly answers: boolean;
  /** Why not, or which pod cannot be read; undefined: nothing is wrong. */
  readonly problem: string | undefined;
  readonly pods: number;
  /** Evicted pods that it is still to be told of. */
  readonly owed: number;
  /** Since the API server has confirmed them; undefined: never. */
  readonly podsAgeNs: bigint | undefined;
  /** How often all pods were listed. */
  readonly lists: number;
  /** Answers by method and code; 'none': no answer. */
  readonly requests: readonly (readonly [count: number, method: string, code: string])[];
}
