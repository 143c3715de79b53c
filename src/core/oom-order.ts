import { UNKILLABLE } from './oom-badness.js';

/** What a process counts in the OOM killer's choice. */
export interface OomProcess {
  /** Its oom_score_adj before evictd wrote one. */
  readonly foundAdj: number;
  /** Resident and swapped memory and page tables. */
  readonly sizeBytes: bigint;
}

/** A workload by its place in the order of eviction, with the processes that live in it. */
export interface OomPlace {
  readonly id: string;
  readonly processes: readonly OomProcess[];
}

export interface OomScoreAdjs {
  /** By workload: what each of its processes gets, unless the value found was higher. */
  readonly values: ReadonlyMap<string, number>;
  /** Workloads that the kernel would take too early: a process of theirs is larger, or its value found is higher, than the range can make up for. */
  readonly outOfPlace: readonly string[];
}

const HIGHEST = 1000;
/** The kernel counts in pages; where they are larger than this the difference is a fraction of a thousandth. */
const PAGE_BYTES = 4096n;
/** Between the first place and the second there are so many times the points that lie between others: it is the next to go, whoever grows until then. */
const FIRST_GAP = 4n;

/** As the kernel adds them up, in bytes. */
interface Place {
  readonly id: string;
  /** Of its largest process. */
  readonly sizeBytes: bigint;
  /** The most points that one of its processes has with the value found: it cannot be brought below. */
  readonly leastPoints: bigint;
  readonly lowestFound: number;
}

/** Values for the places in order, and the indexes of those that are out of place. */
interface Chain {
  readonly adjs: readonly number[];
  readonly outOfPlace: ReadonlySet<number>;
}

/**
 * Values by which the kernel's OOM killer takes the workloads in the order given: it takes the process with the most points, which are its size and
 * oom_score_adj thousandths of all memory (mm/oom_kill.c, oom_badness). So the largest process of each workload gets more points than any of the
 * later ones, and what is left of the range is spread over the distances, because sizes change.
 *
 * Values are never below the value found. A workload that cannot be brought behind those before it keeps what was found, and is `outOfPlace`.
 *
 * @param totalBytes  what the kernel takes thousandths of: RAM and swap of the machine, or of the memcg that runs out
 * @param others  processes that should not be taken before any of these: of protected workloads. They may grow: three quarters of all memory is the least that is counted with
 * @param before  values given before: kept while they make the same order with at least half of the distances that are possible
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
  const end = others.reduce((most, { sizeBytes, foundAdj }) => larger(most, points(sizeBytes, foundAdj, unit)), (totalBytes * 3n) / 4n);
  // Behind the last place, and never written.
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

/** The largest distances, in steps of oom_score_adj, that put no more workloads out of place than the least. */
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

/** From the first place, which gets the highest value, downwards: each as high as the distance allows. */
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
    last = larger(leastPoints, points(sizeBytes, adj, unit));
  }
  return { adjs, outOfPlace };
}

/** Whether values given before still make the chain, with these distances and the same ones out of place. */
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
    const most = isEnd ? leastPoints : larger(leastPoints, points(sizeBytes, adj, unit));
    if (last !== undefined && most > last - distance(unit, steps, placed)) return false;
    last = most;
    placed += 1;
  }
  return true;
}

/** To the place before it. */
function distance(unit: bigint, steps: bigint, placed: number): bigint {
  return unit * larger(1n, placed === 1 ? FIRST_GAP * steps : steps);
}

/** undefined: nobody lives in it whom the kernel would take. */
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
      sizeBytes: larger(place.sizeBytes, sizeBytes),
      leastPoints: larger(place.leastPoints, points(sizeBytes, foundAdj, unit)),
      lowestFound: Math.min(place.lowestFound, foundAdj),
    };
  }
  return place;
}

/** One step of oom_score_adj in bytes: the kernel divides first. */
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

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
