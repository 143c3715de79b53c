import type { DiskAmount } from './disk-holding.js';
import type { Joined } from './joined.js';
import type { Observation, Observations } from './observation.js';
import type { ResourceSignal } from './signal.js';
import type { ResourceThreshold } from './threshold.js';
import type { Candidates } from './workload.js';

/** Node-level reclaim for one threshold, under way. */
export interface Reclaim extends Joined {
  readonly threshold: ResourceThreshold;
  /** What it was decided on. */
  readonly observation: Observation;
  readonly observations: Observations;
  /** In the order in which they run: the kubelet's, and the names of configured steps. */
  readonly collections: readonly string[];
  /** The candidates as they were read before: the kubelet ranks and words its message by them. undefined: they are read anew. */
  readonly candidates: Candidates | undefined;
}

/** What one collection gave back to the filesystem, as far as others did not take it meanwhile; below 0: they took more. */
export interface CollectionYield extends DiskAmount {
  readonly collection: string;
}

/** What the collections of a reclaim did. */
export interface ReclaimReading {
  /** Of collections that failed, with whose names they begin ('images: …'); the others ran all the same. */
  readonly errors: readonly string[];
  /** Of those that ran and were measured. Left out: none was. */
  readonly yields?: readonly CollectionYield[];
}

/** Whether not all of it could be done. */
export function hasFailed(collection: string, { errors }: ReclaimReading): boolean {
  return errors.some((error) => error.startsWith(`${collection}: `));
}

/**
 * By signal and collection: the value that stood there after it had run. As long as it has not changed there is nothing new to be had, so that nothing is tried in a
 * loop. Collections without a measured yield (a kubelet's) are not among them.
 */
export type CollectedAt = ReadonlyMap<string, bigint>;

export function collectedKey(signal: ResourceSignal, collection: string): string {
  return `${signal} ${collection}`;
}

export function collectedAfter(before: CollectedAt, signal: ResourceSignal, { yields = [] }: ReclaimReading, value: bigint): CollectedAt {
  if (yields.length === 0) return before;
  return new Map([...before, ...yields.map(({ collection }) => [collectedKey(signal, collection), value] as const)]);
}
