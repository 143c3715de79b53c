import type { Signal } from '../../../core/signal/signal.js';
import type { FileSpec } from '../../../native/binding.js';
import type { FilledUnit } from './fill-rates.js';
import type { SampledResource } from './signal-sampler.js';

/** A limit of the machine, of the node's cgroup or of one above it. */
export interface Level {
  readonly available: bigint;
  readonly capacity: bigint;
  /** Unique: 'pids.max − pids.current of /demo'. */
  readonly source: string;
  /** What is used, for the sampler: Σ weight × field. */
  readonly used: { readonly files: readonly FileSpec[]; readonly weights: readonly number[] };
}

/** All levels with a limit, and the first of those that have the least left. */
export interface LevelReading {
  readonly narrowest: Level;
  readonly levels: readonly Level[];
}

/** @param used  as `source.used` counts; usage above a lowered capacity leaves 0 */
export function level(capacity: number, used: number, source: Pick<Level, 'source' | 'used'>): Level {
  return { available: BigInt(Math.max(capacity - used, 0)), capacity: BigInt(capacity), ...source };
}

export function narrowestOf(first: Level, others: readonly Level[]): LevelReading {
  const narrowest = others.reduce((least, candidate) => (candidate.available < least.available ? candidate : least), first);
  return { narrowest, levels: [first, ...others] };
}

/** A resource for the sampler of each level: the node runs short where the first of them does. */
export function levelResources(signal: Signal, unit: FilledUnit, levels: readonly Level[]): SampledResource[] {
  return levels.map((level) => ({ signals: [signal], name: level.source, counts: 'used', value: level.used, unit, amount: level }));
}
