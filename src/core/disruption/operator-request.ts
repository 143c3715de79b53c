import type { CordonRequest, DrainRequest } from '../drain/drain.js';
import type { DisruptionCause } from './disruption-cause.js';
import type { Taint } from './taint.js';

/** What an operator asks of the evictd that runs. */
export type OperatorRequest = EvictionRequest | TaintRequest | DrainRequest | CordonRequest;

/** End these workloads. */
export interface EvictionRequest {
  readonly kind: 'evict';
  /** Ids as in Workload. */
  readonly workloads: readonly string[];
  readonly cause: DisruptionCause;
}

/** Change the taints that operators set at run time. */
export interface TaintRequest {
  readonly kind: 'taint';
  /** As in DisruptionCause. */
  readonly by?: string | undefined;
  /** Each replaces one with the same key and effect. */
  readonly set: readonly Taint[];
  readonly remove: readonly Pick<Taint, 'key' | 'effect'>[];
}
