import type { DisruptionCause } from './disruption-cause.js';

/** What an operator asks of the evictd that runs. */
export type OperatorRequest = EvictionRequest;

/** End these workloads. */
export interface EvictionRequest {
  readonly kind: 'evict';
  /** As in Workload. */
  readonly workloads: readonly string[];
  readonly cause: DisruptionCause;
}
