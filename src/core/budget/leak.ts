import type { Decision, Outcome } from '../decide/eviction.js';
import type { RankedWorkload } from '../rank/rank.js';
import { leastGrowth } from '../reclaim/growth.js';
import { memoryOf } from '../reclaim/node-yield.js';
import type { Signal } from '../signal/signal.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';

/** What the last eviction for memory began with, and what it freed. */
export interface LeakBase {
  readonly decision: number;
  /** Its id. If the workload starts again, all that it uses counts as growth. */
  readonly victim: string;
  readonly signal: Signal;
  readonly available: bigint;
  /** All workloads, the protected ones too. */
  readonly ranking: readonly RankedWorkload[];
  /** Bytes of its working set. Left out: the eviction has not ended. */
  readonly freed?: bigint;
  /** Monotonic. */
  readonly endedAtNs?: bigint;
  /** Evictions wait, and the values are those from the beginning of the wait. */
  readonly isPaused?: true;
}

/** What consumed the memory that the last eviction freed: no workload that may be evicted. */
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

/** undefined: neither the signal nor a joined one is an amount of memory. */
export function leakBase({ serial, ranking, cause, resource, victim }: Decision): LeakBase | undefined {
  if (cause.kind !== 'threshold' || resource !== 'memory') return undefined;
  const memory = memoryOf(cause);
  if (memory === undefined) return undefined;
  const { signal, before } = memory;
  return { decision: serial, victim: victim.workload.id, signal, available: before.available, ranking };
}

/**
 * The base with what its eviction freed. undefined: the base is over, or its workload was not ended.
 *
 * @param lasting  signals of the thresholds, joined ones too, of the episodes that are not over
 */
export function leakBaseNow(
  base: LeakBase | undefined,
  outcomes: readonly Outcome[],
  lasting: readonly Signal[],
  nowNs: bigint,
): LeakBase | undefined {
  if (base === undefined) return undefined;
  if (base.isPaused) return lasting.includes(base.signal) ? base : undefined;
  if (base.endedAtNs !== undefined && nowNs - base.endedAtNs >= WITHIN_NS) return undefined;
  const outcome = outcomes.find(({ decision }) => decision.serial === base.decision);
  if (outcome === undefined) return base;
  return outcome.result === 'killed' || outcome.result === 'ineffective'
    ? { ...base, freed: least(outcome.freedBytes, outcome.expectedBytes), endedAtNs: outcome.exitedAtNs ?? nowNs }
    : undefined;
}

/**
 * Reports whether no eviction can cure the shortage: at least half of what the last one freed is consumed again, and most
 * of that not by workloads that may be evicted. While evictions wait: whether these still do not grow, or others grow more.
 */
export function leakSince(
  base: LeakBase | undefined,
  cause: Omit<ThresholdCause, 'kind'>,
  ranking: readonly RankedWorkload[],
): Leak | undefined {
  const memory = memoryOf(cause);
  if (base?.freed === undefined || base.signal !== memory?.signal) return undefined;
  const { before: observation, limit } = memory;
  const { freed, isPaused, victim } = base;
  const consumed = base.available + (isPaused ? 0n : freed) - observation.available;
  if (!isPaused && (freed === 0n || consumed * 2n < freed)) return undefined;
  const before = new Map(base.ranking.map((item) => [item.workload.id, workingSet(item)]));
  if (!isPaused) before.delete(victim);
  const growth = (item: RankedWorkload): bigint => workingSet(item) - (before.get(item.workload.id) ?? 0n);
  const evictable = ranking.filter(({ protection }) => protection === undefined).reduce((sum, item) => sum + positive(growth(item)), 0n);
  if (evictable * 2n >= consumed && (!isPaused || evictable >= leastGrowth(limit, base.available))) return undefined;
  const others = positive(consumed - evictable);
  const [largest] = ranking.filter(({ protection }) => protection !== undefined).sort((a, b) => (growth(a) < growth(b) ? 1 : -1));
  const isGrower = largest !== undefined && growth(largest) > 0n && growth(largest) * 2n >= others;
  return isGrower ? { grower: largest, grownBytes: growth(largest), freedBytes: freed } : { grownBytes: others, freedBytes: freed };
}

/** Growth counts from now on, so that a workload that begins to grow later is noticed. */
export function pausedBase(base: LeakBase, cause: Omit<ThresholdCause, 'kind'>, ranking: readonly RankedWorkload[]): LeakBase {
  const { available } = memoryOf(cause)?.before ?? base;
  return base.isPaused ? base : { ...base, available, ranking, isPaused: true };
}

/** Whether the kernel may not have added up yet what the last eviction freed. */
export function isLeakUncertain({ endedAtNs, isPaused }: LeakBase, nowNs: bigint): boolean {
  return !isPaused && endedAtNs !== undefined && nowNs - endedAtNs < ADDED_UP_NS;
}

function workingSet({ stats }: RankedWorkload): bigint {
  return stats?.workingSetBytes ?? 0n;
}

function positive(bytes: bigint): bigint {
  return bytes > 0n ? bytes : 0n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
