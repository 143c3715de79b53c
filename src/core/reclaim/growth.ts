import { freedBy, type RankedWorkload } from '../rank/rank.js';
import type { YieldPauses } from './yield-pause.js';
import type { ResourceSignal, Signal } from '../signal/signal.js';

/** The values when a no-yield pause was first looked at. */
export interface GrowthBase {
  /** Of the paused signal. */
  readonly available: bigint;
  /** What an eviction would have freed, by workload id. */
  readonly frees: ReadonlyMap<string, bigint>;
}

/** By the signal of the pause. */
export type GrowthBases = ReadonlyMap<Signal, GrowthBase>;

/** Growth by less than this part of what has to be available explains nothing, … */
const OF_RELIEF = 20n;
/** … or, if that is less, than this part of what was available: more growth may not be possible. */
const OF_AVAILABLE = 4n;
/** Less is noise. */
const NOISE = 4n << 20n;
/** Those that grew by at least this part of the largest growth are growers, … */
const OF_LARGEST = 2n;
/** … if all growth together is at least this part of what the node has lost meanwhile. */
const OF_LOST = 2n;

/** @param relief  how much has to be available for a pause to end */
export function leastGrowth(relief: bigint, available: bigint): bigint {
  const [part, possible] = [relief / OF_RELIEF, available / OF_AVAILABLE];
  const least = part < possible ? part : possible;
  return least > NOISE ? least : NOISE;
}

/** The bases of pauses that continue. A pause that begins again gets a new base. */
export function basesNow(bases: GrowthBases, before: YieldPauses, now: YieldPauses): GrowthBases {
  if (bases.size === 0) return bases;
  return new Map([...bases].filter(([signal]) => now.has(signal) && before.get(signal) === now.get(signal)));
}

export function growthBase(signal: ResourceSignal, ranking: readonly RankedWorkload[], available: bigint): GrowthBase {
  return { available, frees: new Map(ranking.map((item) => [item.workload.id, freedBy(signal, item)])) };
}

/**
 * The ids of the workloads whose growth explains what the node has lost since: evicting one of them cures the shortage.
 * Empty: memory goes elsewhere (a tmpfs, the kernel, a protected workload), which no eviction can cure.
 *
 * @param relief  how much has to be available for the pause to end
 */
export function growersSince(
  base: GrowthBase,
  signal: ResourceSignal,
  ranking: readonly RankedWorkload[],
  available: bigint,
  relief: bigint,
): ReadonlySet<string> {
  const grown = ranking
    .filter(({ protection }) => protection === undefined)
    .map((item) => [item.workload.id, freedBy(signal, item) - (base.frees.get(item.workload.id) ?? 0n)] as const)
    .filter(([, bytes]) => bytes > 0n);
  const all = grown.reduce((sum, [, bytes]) => sum + bytes, 0n);
  if (all < leastGrowth(relief, base.available) || all * OF_LOST < base.available - available) return new Set();
  const largest = grown.reduce((most, [, bytes]) => (bytes > most ? bytes : most), 0n);
  return new Set(grown.flatMap(([id, bytes]) => (bytes * OF_LARGEST >= largest ? id : [])));
}
