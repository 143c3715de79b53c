import { UNKILLABLE } from './oom-badness.js';
import { maxBigInt } from '../quantity/integer.js';

/** A process as the OOM killer counts it. */
export interface OomProcess {
  /** oom_score_adj before evictd changed it. */
  readonly foundAdj: number;
  /** Resident and swapped memory, and page tables. */
  readonly sizeBytes: bigint;
}

/** A workload in the order of eviction, with its processes. */
export interface OomPlace {
  readonly id: string;
  readonly processes: readonly OomProcess[];
}

export interface OomScoreAdjs {
  /** oom_score_adj of the processes of a workload, by workload id; a process with a higher value keeps it. */
  readonly values: ReadonlyMap<string, number>;
  /**
   * Workloads that the kernel would select too early: a process is larger, or its own value higher, than the range can
   * offset.
   */
  readonly outOfPlace: readonly string[];
}

const HIGHEST = 1000;
/** The kernel counts in pages. Larger pages change a value by a fraction of a thousandth. */
const PAGE_BYTES = 4096n;
/**
 * The gap between the first and the second place is this many times the others, so that the first stays first while
 * others grow.
 */
const FIRST_GAP = 4n;

/** A workload in the kernel's units, bytes. */
interface Place {
  readonly id: string;
  /** The size of its largest process. */
  readonly sizeBytes: bigint;
  /** The highest points of a process with its own value; evictd cannot lower it. */
  readonly leastPoints: bigint;
  readonly lowestFound: number;
}

/** Values in order, and the indexes of places that cannot be reached. */
interface Chain {
  readonly adjs: readonly number[];
  readonly outOfPlace: ReadonlySet<number>;
}

/**
 * Values of oom_score_adj that make the kernel select workloads in this order. The kernel kills the process with the
 * most points: its size plus oom_score_adj thousandths of all memory (mm/oom_kill.c, oom_badness). So the largest
 * process of a workload gets more points than any of a later workload, and the rest of the range widens the gaps,
 * because sizes change. A value is never lowered. A workload that cannot rank behind its predecessors keeps its own
 * values and is `outOfPlace`.
 *
 * @param totalBytes  what the kernel takes thousandths of: RAM and swap of the machine, or of the memcg that runs out
 * @param others  processes of protected workloads, to be selected last; they may grow, so at least three quarters of
 *   all memory are reserved
 * @param before  earlier values, kept while they give the same order with at least half of the possible gaps
 */
export function oomScoreAdjsByRank(
  order: readonly OomPlace[],
  totalBytes: bigint,
  others: readonly OomProcess[] = [],
  before: ReadonlyMap<string, number> = new Map(),
): OomScoreAdjs {
  const unit = unitOf(totalBytes);
  const places = order.flatMap((place) => placeOf(place, unit) ?? []);
  const first = places[0];
  if (unit === 0n || first === undefined) return { values: new Map(), outOfPlace: [] };
  const end = others.reduce((most, { sizeBytes, foundAdj }) => maxBigInt(most, points(sizeBytes, foundAdj, unit)), (totalBytes * 3n) / 4n);
  // After the last place; never written.
  const all = [...places, { id: '', sizeBytes: end, leastPoints: end, lowestFound: 0 }];
  const widest = widestChain(all, unit);
  const { chain, steps } = widest;
  const given = places.map(({ id }) => before.get(id));
  const adjs = keeps(all, given, unit, steps / 2n, chain.outOfPlace) ? given : chain.adjs;
  return {
    values: new Map(places.map(({ id, lowestFound }, index) => [id, adjs[index] ?? lowestFound])),
    outOfPlace: places.filter((_, index) => chain.outOfPlace.has(index)).map(({ id }) => id),
  };
}

/** The widest gaps, in steps of oom_score_adj, that put no more workloads out of place. */
function widestChain(places: readonly Place[], unit: bigint): { readonly chain: Chain; readonly steps: bigint } {
  let widest = chainOf(places, unit, 0n);
  let [fits, fitsNot] = [0n, BigInt(HIGHEST)];
  while (fitsNot - fits > 1n) {
    const steps = (fits + fitsNot) / 2n;
    const chain = chainOf(places, unit, steps);
    if (chain.outOfPlace.size === widest.outOfPlace.size) [widest, fits] = [chain, steps];
    else fitsNot = steps;
  }
  return { chain: widest, steps: fits };
}

/** Values from the first place, which has the highest, downwards. */
function chainOf(places: readonly Place[], unit: bigint, steps: bigint): Chain {
  const outOfPlace = new Set<number>();
  const adjs: number[] = [];
  let last: bigint | undefined;
  for (const [index, { sizeBytes, leastPoints, lowestFound }] of places.entries()) {
    const most = last === undefined ? undefined : last - distance(unit, steps, index - outOfPlace.size);
    if (most !== undefined && leastPoints > most) {
      outOfPlace.add(index);
      adjs.push(lowestFound);
      continue;
    }
    const adj = most === undefined ? HIGHEST : Math.min(Math.max(Number(floorDivide(most - sizeBytes, unit)), lowestFound), HIGHEST);
    adjs.push(adj);
    last = maxBigInt(leastPoints, points(sizeBytes, adj, unit));
  }
  return { adjs, outOfPlace };
}

/** Reports whether earlier values still give the chain with these gaps and the same places out of reach. */
function keeps(
  places: readonly Place[],
  given: readonly (number | undefined)[],
  unit: bigint,
  steps: bigint,
  outOfPlace: ReadonlySet<number>,
): boolean {
  let last: bigint | undefined;
  let placed = 0;
  for (const [index, { sizeBytes, leastPoints, lowestFound }] of places.entries()) {
    const isEnd = index === given.length;
    const adj = isEnd ? lowestFound : given[index];
    if (adj === undefined || (last === undefined && adj !== HIGHEST)) return false;
    if (outOfPlace.has(index)) {
      if (adj !== lowestFound) return false;
      continue;
    }
    const most = isEnd ? leastPoints : maxBigInt(leastPoints, points(sizeBytes, adj, unit));
    if (last !== undefined && most > last - distance(unit, steps, placed)) return false;
    last = most;
    placed += 1;
  }
  return true;
}

function distance(unit: bigint, steps: bigint, placed: number): bigint {
  return unit * maxBigInt(1n, placed === 1 ? FIRST_GAP * steps : steps);
}

/** undefined: it has no process that the kernel would select. */
function placeOf({ id, processes }: OomPlace, unit: bigint): Place | undefined {
  const killable = processes.filter(({ foundAdj }) => foundAdj > UNKILLABLE);
  const [head] = killable;
  if (head === undefined) return undefined;
  let place: Place = {
    id,
    sizeBytes: head.sizeBytes,
    leastPoints: points(head.sizeBytes, head.foundAdj, unit),
    lowestFound: head.foundAdj,
  };
  for (const { foundAdj, sizeBytes } of killable) {
    place = {
      id,
      sizeBytes: maxBigInt(place.sizeBytes, sizeBytes),
      leastPoints: maxBigInt(place.leastPoints, points(sizeBytes, foundAdj, unit)),
      lowestFound: Math.min(place.lowestFound, foundAdj),
    };
  }
  return place;
}

/** The bytes of one step of oom_score_adj; the kernel divides first. */
function unitOf(totalBytes: bigint): bigint {
  return (totalBytes / PAGE_BYTES / 1000n) * PAGE_BYTES;
}

function points(sizeBytes: bigint, adj: number, unit: bigint): bigint {
  return sizeBytes + BigInt(adj) * unit;
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}
