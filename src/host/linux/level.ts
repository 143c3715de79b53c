import type { FileSpec } from '../../native/binding.js';

/** A bound that a node is under: the machine's, that of the node's cgroup, or of one above it. */
export interface Level {
  readonly available: bigint;
  readonly capacity: bigint;
  /** For people, and no other level's: 'pids.max − pids.current of /demo'. */
  readonly source: string;
  /** What is used of the capacity, for the sampler: Σ weight × field. */
  readonly used: { readonly files: readonly FileSpec[]; readonly weights: readonly number[] };
}

/** All levels that have a bound, and the one with the least left: the first of those that have as little. */
export interface LevelReading {
  readonly narrowest: Level;
  readonly levels: readonly Level[];
}

/** @param used  as `source.used` counts; what is used beyond the capacity (which may be lowered) leaves nothing */
export function level(capacity: number, used: number, source: Pick<Level, 'source' | 'used'>): Level {
  return { available: BigInt(Math.max(capacity - used, 0)), capacity: BigInt(capacity), ...source };
}

export function narrowestOf(first: Level, others: readonly Level[]): LevelReading {
  const narrowest = others.reduce((least, candidate) => (candidate.available < least.available ? candidate : least), first);
  return { narrowest, levels: [first, ...others] };
}
