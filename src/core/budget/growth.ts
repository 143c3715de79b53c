import type { RankedWorkload } from '../rank/rank.js';
import type { ResourceSignal } from '../signal/signal.js';
import { heldBy, type GrowthBase, type Held } from './growth-base.js';

/** What has grown since a base. */
export interface Growth {
  /** What the node has lost, without what an eviction has freed. Below 0: it has gained. */
  readonly lost: bigint;
  /** The largest first. */
  readonly workloads: readonly GrownWorkload[];
}

export interface GrownWorkload {
  readonly item: RankedWorkload;
  readonly grown: bigint;
  /** The part that its eviction would free; 0 for a protected workload. */
  readonly curable: bigint;
}

/** What consumed the memory that the last eviction freed, and what no eviction frees. */
export interface Leak {
  /** Left out: no workload at all, but another unit, the kernel, or a tmpfs. */
  readonly grower?: RankedWorkload;
  readonly grownBytes: bigint;
  readonly freedBytes: bigint;
}

/** An eviction whose memory lasts longer than this has helped. */
const WITHIN_NS = 60_000_000_000n;
/** The kernel sums its per-processor counters once a second. */
const ADDED_UP_NS = 1_500_000_000n;
/** A shortage without growth for this long does not get worse. */
const STATIC_NS = 2n * ADDED_UP_NS;
/** Growth by less than this part of what has to be available explains nothing, … */
const OF_RELIEF = 20n;
/** … or, if that is less, than this part of what was available: more growth may not be possible. */
const OF_AVAILABLE = 4n;
/** Growth below this is noise. */
const NOISE = 4n << 20n;
/** Growers have grown by at least this part of the largest growth, … */
const OF_LARGEST = 2n;
/** … if what their evictions would free is at least this part of all growth. */
const OF_ALL = 2n;

/**
 * The growth at most, and what is curable of it at least: workloads of which only an upper bound is known may have grown up to it,
 * and nothing of that counts as curable. What holds here holds for measured values, too.
 */
export function growthAtMost(base: GrowthBase, signal: ResourceSignal, ranking: readonly RankedWorkload[], available: bigint): Growth {
  const { lost, workloads } = growthSince(base, signal, ranking, available);
  const bounded = ranking.flatMap((item): GrownWorkload[] => {
    const { amount } = base.held.get(item.workload.path) ?? NOTHING;
    const { workingSetAtMost, workingSetBytes, swapBytes = 0n } = item.stats ?? {};
    if (!workingSetAtMost || workingSetBytes === undefined || amount === undefined) return [];
    return [{ item, grown: positive(workingSetBytes + swapBytes - amount), curable: 0n }];
  });
  return { lost, workloads: [...workloads, ...bounded] };
}

/** @param ranking  all workloads, the protected ones too, as measured */
export function growthSince(base: GrowthBase, signal: ResourceSignal, ranking: readonly RankedWorkload[], available: bigint): Growth {
  const workloads = ranking.flatMap((item): GrownWorkload[] => {
    const [now, before] = [heldBy(signal, item), base.held.get(item.workload.path) ?? NOTHING];
    if (now.amount === undefined || before.amount === undefined) return [];
    const grown = now.amount - before.amount;
    const curable = item.protection === undefined ? grown - ((now.stays ?? 0n) - (before.stays ?? 0n)) : 0n;
    return grown > 0n || curable > 0n ? [{ item, grown: positive(grown), curable: positive(curable) }] : [];
  });
  return { lost: base.available + freedIn(base) - available, workloads: workloads.sort((a, b) => (a.grown < b.grown ? 1 : -1)) };
}

/** A workload that was not there. */
const NOTHING: Held = { amount: 0n };

function freedIn({ since }: GrowthBase): bigint {
  return since.kind === 'eviction' ? (since.freed ?? 0n) : 0n;
}

/** The growth that evictions would undo. */
function curableIn({ workloads }: Growth): bigint {
  return workloads.reduce((sum, { curable }) => sum + curable, 0n);
}

/** The workloads may have grown by more than the node has lost: in swap, or while others freed memory. */
function allIn({ workloads, lost }: Growth): bigint {
  const grown = workloads.reduce((sum, workload) => sum + (workload.grown > workload.curable ? workload.grown : workload.curable), 0n);
  return grown > lost ? grown : lost;
}

/** Whether at least half of what the last eviction freed is consumed again. It need not be known yet by what. */
export function isConsumed({ since, available: before }: GrowthBase, available: bigint, nowNs: bigint): boolean {
  if (since.kind !== 'eviction' || since.endedAtNs === undefined || nowNs - since.endedAtNs >= WITHIN_NS) return false;
  const { freed = 0n } = since;
  return freed > 0n && (before + freed - available) * 2n >= freed;
}

/** Whether the kernel may not have added up yet what the last eviction freed. */
export function isUncertain({ since }: GrowthBase, nowNs: bigint): boolean {
  return since.kind === 'eviction' && since.endedAtNs !== undefined && nowNs - since.endedAtNs < ADDED_UP_NS;
}

/** Whether evictions would undo at least half of all growth. */
export function isEvictable(growth: Growth): boolean {
  return curableIn(growth) * OF_ALL >= allIn(growth);
}

export function leakIn(base: GrowthBase, growth: Growth): Leak {
  const freedBytes = base.since.kind === 'leak' ? base.since.freed : freedIn(base);
  const others = allIn(growth) - curableIn(growth);
  const [largest] = [...growth.workloads].sort((a, b) => (a.grown - a.curable < b.grown - b.curable ? 1 : -1));
  const grownBytes = largest === undefined ? 0n : largest.grown - largest.curable;
  return largest !== undefined && grownBytes > 0n && grownBytes * 2n >= others
    ? { grower: largest.item, grownBytes, freedBytes }
    : { grownBytes: others, freedBytes };
}

/**
 * The ids of the workloads whose growth explains what the node has lost since: evicting one of them cures the shortage.
 * Empty: memory goes elsewhere (a tmpfs, the kernel, a protected workload), which no eviction can cure.
 *
 * @param relief  how much has to be available for the pause to end
 */
export function growersIn(base: GrowthBase, growth: Growth, relief: bigint): ReadonlySet<string> {
  if (!isEvictable(growth) || curableIn(growth) < leastGrowth(base, relief)) return new Set();
  const largest = growth.workloads.reduce((most, workload) => (workload.curable > most ? workload.curable : most), 0n);
  return new Set(growth.workloads.flatMap(({ item, curable: own }) => (own * OF_LARGEST >= largest ? item.workload.id : [])));
}

/** Whether nothing has grown since evictions wait, long enough to be sure. */
export function isStatic(base: GrowthBase, growth: Growth, relief: bigint, nowNs: bigint): boolean {
  return nowNs - base.atNs >= STATIC_NS && allIn(growth) < leastGrowth(base, relief);
}

function leastGrowth({ available }: GrowthBase, relief: bigint): bigint {
  const [part, possible] = [relief / OF_RELIEF, available / OF_AVAILABLE];
  const least = part < possible ? part : possible;
  return least > NOISE ? least : NOISE;
}

function positive(bytes: bigint): bigint {
  return bytes > 0n ? bytes : 0n;
}
