/** What the operator says about workloads. Rules stand in the order written. */
export interface Rule {
  readonly match: { readonly name?: string; readonly path?: string };
  readonly critical?: boolean;
  readonly priority?: number;
  readonly requestsMemory?: bigint;
  readonly terminationGracePeriodNs?: bigint;
}
