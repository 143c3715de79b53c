import type { DiskAmount } from '../disk/disk-amount.js';
import type { Joined } from '../threshold/joined-readings.js';
import type { Observation, Observations } from '../signal/observation.js';
import type { ResourceSignal, Signal } from '../signal/signal.js';
import type { ResourceThreshold } from '../threshold/threshold.js';
import type { Candidates } from '../workload/workload.js';

/** Node-level reclaim in progress. */
export interface Reclaim extends Joined {
  readonly threshold: ResourceThreshold;
  /** The reading that started it. */
  readonly observation: Observation;
  readonly observations: Observations;
  /** Collections in order: the kubelet's, then the names of configured steps. */
  readonly collections: readonly string[];
  /** Candidates as read before: the kubelet ranks and words its message by them. undefined: read anew. */
  readonly candidates: Candidates | undefined;
}

/** What one collection freed on the filesystem. Negative: other processes used more meanwhile. */
export interface CollectionYield extends DiskAmount {
  readonly collection: string;
}

/** The result of the collections. */
export interface ReclaimReading {
  /** Each begins with the collection's name ('images: …'). The other collections ran. */
  readonly errors: readonly string[];
  /** Yields of measured collections. Left out: none. */
  readonly yields?: readonly CollectionYield[];
}

export function hasFailed(collection: string, { errors }: ReclaimReading): boolean {
  return errors.some((error) => error.startsWith(`${collection}: `));
}

/**
 * The value after a collection, by signal and collection. The collection does not run again in the episode until the value
 * changes. Collections without a measured yield (a kubelet's) are not in it.
 */
export type CollectedAt = ReadonlyMap<string, bigint>;

export function collectedKey(signal: ResourceSignal, collection: string): string {
  return `${signal} ${collection}`;
}

export function collectedAfter(before: CollectedAt, signal: ResourceSignal, { yields = [] }: ReclaimReading, value: bigint): CollectedAt {
  if (yields.length === 0) return before;
  return new Map([...before, ...yields.map(({ collection }) => [collectedKey(signal, collection), value] as const)]);
}

/** Those of the signals whose episodes are not over. */
export function collectedDuring(collectedAt: CollectedAt, signals: readonly Signal[]): CollectedAt {
  if (collectedAt.size === 0) return collectedAt;
  return new Map([...collectedAt].filter(([key]) => signals.some((signal) => key.startsWith(`${signal} `))));
}
