import type { Decision, Outcome } from '../decide/eviction.js';
import { freedBy, type RankedWorkload } from '../rank/rank.js';
import { nodeMemory } from '../reclaim/node-yield.js';
import type { YieldPauses } from '../reclaim/yield-pause.js';
import { SIGNAL_FACTS, type Resource, type ResourceSignal, type Signal } from '../signal/signal.js';
import { withAncestors } from '../workload/cgroup.js';
import type { WorkloadProcess } from '../workload/process.js';
import type { WorkloadStats } from '../workload/workload.js';

/** The use of a resource at one moment, so that the growth since then is known. */
export interface GrowthBase {
  readonly available: bigint;
  /** What each workload uses, by its path: one that was started again is the same. */
  readonly held: ReadonlyMap<string, Held>;
  /** Left out: the resource is not memory, or it was not read. */
  readonly outside?: MemoryHoldings;
  /** Monotonic. */
  readonly atNs: bigint;
  readonly since: BaseMoment;
}

/**
 * eviction: the last one for memory began. no-yield, leak: evictd began to wait, so that growth counts from then on and a
 * workload that begins to grow later is noticed.
 */
export type BaseMoment =
  | EvictionMoment
  /** `relief`: what has to be available for the pause to end. `last`: the eviction for memory before it, if there was one. */
  | { readonly kind: 'no-yield'; readonly relief: bigint; readonly last?: EvictionMoment }
  /** `freed`: by the last eviction. */
  | { readonly kind: 'leak'; readonly freed: bigint };

interface EvictionMoment {
  readonly kind: 'eviction';
  readonly decision: number;
  /** Bytes of its working set. Left out: the eviction has not ended. */
  readonly freed?: bigint;
  /** Monotonic. */
  readonly endedAtNs?: bigint;
}

/** The readings that growth is compared with, by the signal whose value is `available`: memory, and each other signal with a pause. */
export type GrowthBases = ReadonlyMap<Signal, GrowthBase>;

/** What a workload uses, in the unit of the signal. Memory includes swap: on zram a leak grows there. */
export interface Held {
  /** Left out: not known, so that its growth is not known either. */
  readonly amount?: bigint;
  /** The part that stays when its processes have ended. Left out: none. */
  readonly stays?: bigint;
}

/** What holds memory outside the workloads, in bytes. */
export interface MemoryHoldings {
  /** The largest cgroups that no workload source covers, by path; bytes. With swap, without their page cache. */
  readonly cgroups: ReadonlyMap<string, bigint>;
  /** Each of the others holds at most that. */
  readonly othersAtMost: bigint;
  /** Cgroups of which some children were not read, because there are too many. */
  readonly unread: readonly string[];
  /** Bytes by field of /proc/meminfo, see MEMORY_COUNTERS. Where the node is a cgroup only Shmem: what is charged to it. */
  readonly counters: ReadonlyMap<string, bigint>;
  /** Of each tmpfs, by mount point. Left out: not read. */
  readonly tmpfs?: ReadonlyMap<string, bigint>;
  /** Cgroups whose children were read one by one: those above the workloads, and slices. */
  readonly above: ReadonlySet<string>;
}

export const NO_HOLDINGS: MemoryHoldings = { cgroups: new Map(), othersAtMost: 0n, unread: [], counters: new Map(), above: new Set() };

/** An upper bound is not known: it includes page cache, which hides growth. */
export function heldBy(signal: ResourceSignal, item: RankedWorkload): Held {
  if (isOfMemory(signal)) return heldMemory(item.stats);
  return item.usage === undefined ? {} : { amount: freedBy(signal, item) };
}

function heldMemory({ workingSetBytes, workingSetAtMost, staysBytes = 0n, swapBytes = 0n }: Partial<WorkloadStats> = {}): Held {
  if (workingSetBytes === undefined || workingSetAtMost) return {};
  return { amount: workingSetBytes + swapBytes, ...(staysBytes > 0n && { stays: staysBytes }) };
}

/** What the workload holds when the process, or its group, has ended. */
function heldWithout({ anonBytes, swapBytes, group }: WorkloadProcess, stats: Partial<WorkloadStats> | undefined): Held {
  const { amount, ...rest } = heldMemory(stats);
  if (amount === undefined) return rest;
  const freed = (group?.anonBytes ?? anonBytes) + swapBytes;
  return { ...rest, amount: amount > freed ? amount - freed : 0n };
}

/** The moment at which evictions for the signal begin to wait. */
export function pausedBase(signal: ResourceSignal, ranking: readonly RankedWorkload[], now: Omit<GrowthBase, 'held'>): GrowthBase {
  return { ...now, held: new Map(ranking.map((item) => [item.workload.path, heldBy(signal, item)])) };
}

/** The moment of a decision. undefined: neither its signal nor a joined one is an amount of memory, or its ranking is not known. */
export function evictionBase(
  { serial, cause, resource, ranking, victim, decidedAtNs: atNs }: Decision,
  measured: ReadonlyMap<string, WorkloadStats | undefined>,
  outside: MemoryHoldings | undefined,
): { readonly signal: ResourceSignal; readonly base: GrowthBase } | undefined {
  if (resource !== 'memory' || ranking.length === 0) return undefined;
  const memory = nodeMemory(cause);
  if (memory === undefined) return undefined;
  const { signal, before } = memory;
  const known = new Map([...ranking.map(({ workload: { path }, stats }) => [path, stats] as const), ...measured]);
  const held = new Map([...known].map(([path, stats]) => [path, heldMemory(stats)]));
  // If the victim starts again, all that it uses is growth. Where one process ends, the rest goes on.
  if (victim.process === undefined) held.delete(victim.workload.path);
  else held.set(victim.workload.path, heldWithout(victim.process, victim.stats));
  const since = { kind: 'eviction', decision: serial } as const;
  return { signal, base: { available: before.available, held, atNs, since, ...(outside && { outside }) } };
}

export function ancestorsOf(ranking: readonly RankedWorkload[], before?: MemoryHoldings): ReadonlySet<string> {
  const above = new Set(before?.above);
  for (const { workload } of ranking) for (const path of withAncestors(workload.path).slice(1)) above.add(path);
  return above;
}

/** A base of memory replaces the one before, whatever their signals. */
export function withBase(bases: GrowthBases, signal: Signal, base: GrowthBase): GrowthBases {
  return new Map(isOfMemory(signal) ? withoutBases(bases, 'memory') : bases).set(signal, base);
}

export function withoutBases(bases: GrowthBases, resource: Resource): GrowthBases {
  if (bases.size === 0) return bases;
  return new Map([...bases].filter(([signal]) => SIGNAL_FACTS[signal].resource !== resource));
}

export function memoryBase(bases: GrowthBases): { readonly signal: Signal; readonly base: GrowthBase } | undefined {
  for (const [signal, base] of bases) if (isOfMemory(signal)) return { signal, base };
  return undefined;
}

function isOfMemory(signal: Signal): boolean {
  const { resource } = SIGNAL_FACTS[signal];
  return resource === 'memory';
}

/**
 * The bases whose moment still counts, with what the eviction of one freed.
 *
 * @param pauses  those that continue
 * @param lasting  signals of the thresholds, joined ones too, of the episodes that are not over
 */
export function basesNow(
  bases: GrowthBases,
  outcomes: readonly Outcome[],
  pauses: YieldPauses,
  lasting: readonly Signal[],
  nowNs: bigint,
): GrowthBases {
  if (bases.size === 0) return bases;
  return new Map(
    [...bases].flatMap(([signal, base]) => {
      const now = baseNow(signal, base, outcomes, pauses, lasting, nowNs);
      return now === undefined ? [] : [[signal, now] as const];
    }),
  );
}

/** Whatever took the memory of the last eviction may do so again after the pause: growth since the pause began still counts. */
function afterPause(base: GrowthBase, last: EvictionMoment | undefined): GrowthBase | undefined {
  return last && { ...base, available: base.available - (last.freed ?? 0n), since: last };
}

function baseNow(
  signal: Signal,
  base: GrowthBase,
  outcomes: readonly Outcome[],
  pauses: YieldPauses,
  lasting: readonly Signal[],
  nowNs: bigint,
): GrowthBase | undefined {
  const { since } = base;
  switch (since.kind) {
    case 'no-yield':
      return pauses.get(signal) === since.relief ? base : afterPause(base, since.last);
    case 'leak':
      return lasting.includes(signal) ? base : undefined;
    case 'eviction': {
      const outcome = outcomes.find(({ decision }) => decision.serial === since.decision);
      if (outcome === undefined) return base;
      if (outcome.result !== 'killed' && outcome.result !== 'ineffective') return undefined;
      const { freedBytes, expectedBytes, exitedAtNs = nowNs } = outcome;
      // Page cache that the kernel could drop was available before.
      const freed = freedBytes < expectedBytes ? freedBytes : expectedBytes;
      return { ...base, since: { ...since, freed, endedAtNs: exitedAtNs } };
    }
  }
}
