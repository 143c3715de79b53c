import { countedBy, holdingOn } from './candidate-usages.js';
import { comparatorsOf, type Compare } from './rank-comparators.js';
import { amountOfResource } from '../quantity/amount.js';
import type { Departures } from '../decide/departures.js';
import { ofResource } from '../disk/disk-holding.js';
import { type DiskHolding } from '../disk/disk-amount.js';
import type { Layout } from '../signal/layout.js';
import { withoutRelief } from './shortfall.js';
import { SIGNAL_FACTS, type Resource, type ResourceSignal } from '../signal/signal.js';
import type { WorkloadProcess } from '../workload/process.js';
import type { Protection, Workload, WorkloadStats, WorkloadUsage } from '../workload/workload.js';
import { NANO } from '../quantity/integer.js';

/** A workload in the order of eviction, with the values that the comparison uses. */
export interface RankedWorkload {
  /** 1 is evicted first. Protected workloads have a place too, and are passed over. */
  readonly place: number;
  readonly workload: Workload;
  readonly stats: WorkloadStats | undefined;
  /** The use of the ranked resource; undefined: not known. */
  readonly usage: bigint | undefined;
  /** × 10⁹, in the same unit. */
  readonly requestNano: bigint;
  readonly exceedsRequest: boolean;
  readonly priority: number;
  /**
   * Usage minus request, × 10⁹. An unknown usage counts as 0. For a machine workload and a disk it is what an eviction
   * frees there; for memory the usage is without `stays`.
   */
  readonly aboveRequestNano: bigint;
  readonly protection: Protection | undefined;
  /**
   * The part of the usage that stays when its processes have ended (departure node-yield). Left out: none, or another
   * resource than memory.
   */
  readonly stays?: bigint;
  /** The part of the usage that is swap. Left out: swap does not count, or it uses none. */
  readonly swapped?: bigint;
  /** Use of the signal's disk. Left out: not measured, or not a disk signal. */
  readonly holding?: DiskHolding;
  /** The only process of a victim that ends. Left out: all processes end. */
  readonly process?: WorkloadProcess;
}

export interface RankOptions {
  /** Passes over machine workloads that would free less. Left out: those that would free nothing. */
  readonly minYield?: bigint | undefined;
  /** A workload's swap is usage (see `countsSwap`). */
  readonly countsSwap?: boolean;
}

/** All workloads in the order of eviction for this signal. The sort is stable. */
export function rank(
  signal: ResourceSignal,
  layout: Layout,
  usages: readonly WorkloadUsage[],
  departures: Departures,
  options: RankOptions = {},
): RankedWorkload[] {
  const ranked = rankUsages(signal, layout, usages, departures, options);
  ranked.sort(byRank(signal, layout, departures));
  assignPlaces(ranked);
  return ranked;
}

/**
 * Replaces a workload by what was measured of it since, which is less, and moves it back to where it belongs. Its place
 * and those of the others are wrong until {@link assignPlaces}.
 */
export function moveBack(
  ranking: RankedWorkload[],
  at: number,
  stats: WorkloadStats,
  signal: ResourceSignal,
  layout: Layout,
  departures: Departures,
  options: RankOptions = {},
): void {
  const [before] = ranking.splice(at, 1);
  if (before === undefined) return;
  const [item] = rankUsages(signal, layout, [{ workload: before.workload, stats }], departures, options);
  if (item === undefined) return;
  const compare = byRank(signal, layout, departures);
  let [low, high] = [at, ranking.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = ranking[middle];
    if (other !== undefined && compare(other, item) < 0) low = middle + 1;
    else high = middle;
  }
  ranking.splice(low, 0, item);
}

export function assignPlaces(ranking: readonly RankedWorkload[]): void {
  let place = 0;
  for (const item of ranking as readonly Unplaced[]) item.place = place += 1;
}

/** The turn of each workload that may be evicted, from 1 on. A protected one has none. */
export function turnNumbers(ranking: readonly RankedWorkload[]): ReadonlyMap<RankedWorkload, number> {
  return new Map(ranking.filter(({ protection }) => protection === undefined).map((item, index) => [item, index + 1]));
}

/** Written once, after sorting: on the path of an eviction nothing is copied. */
type Unplaced = { -readonly [Key in keyof RankedWorkload]: RankedWorkload[Key] };

function rankUsages(
  signal: ResourceSignal,
  layout: Layout,
  usages: readonly WorkloadUsage[],
  departures: Departures,
  { minYield, countsSwap = false }: RankOptions,
): Unplaced[] {
  const { resource, measure: measureOf } = SIGNAL_FACTS[signal];
  const measure = measureOf(layout, departures, countsSwap);
  const showsSwap = countsSwap && resource === 'memory';
  const showsStays = departures['node-yield'] && resource === 'memory';
  return usages.map(({ workload, stats }) => {
    const usage = stats === undefined ? undefined : measure.usage(workload, stats);
    const requestNano = measure.requestNano(workload);
    const holding = holdingOn(signal, stats);
    const stays = showsStays && usage !== undefined ? stats?.staysBytes : undefined;
    const used = usage === undefined ? undefined : usage - (stays ?? 0n);
    const compared = holding && workload.pod === undefined ? countedBy(signal, holding.frees) : used;
    const comparedNano = compared === undefined ? 0n : compared * NANO;
    const ranked: Unplaced = {
      place: 0,
      workload,
      stats,
      usage,
      requestNano,
      exceedsRequest: comparedNano > requestNano,
      priority: workload.priority,
      aboveRequestNano: comparedNano - measure.subtractedNano(workload),
      protection: workload.protection ?? withoutRelief(signal, workload, stats, minYield),
    };
    if (showsSwap && stats?.swapBytes !== undefined) ranked.swapped = stats.swapBytes;
    if (stays !== undefined) ranked.stays = stays;
    if (holding) ranked.holding = holding;
    return ranked;
  });
}

/** The order of eviction: the first comparator that distinguishes two workloads decides. 0 for equals. */
export function byRank(signal: ResourceSignal, _layout: Layout, departures: Departures): Compare<RankedWorkload> {
  const comparators = comparatorsOf(signal, departures);
  return (a, b) => {
    for (const { compare } of comparators) {
      const order = compare(a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Reports whether an unmeasured workload would rank before another one if it freed the maximum. */
export function mayComeBefore(
  signal: ResourceSignal,
  layout: Layout,
  departures: Departures,
  unmeasured: RankedWorkload,
  other: RankedWorkload,
): boolean {
  const usage = unmeasured.usage ?? 0n;
  const most = { ...unmeasured, usage, exceedsRequest: true, aboveRequestNano: other.aboveRequestNano + 1n };
  return byRank(signal, layout, departures)(most, other) < 0;
}

const UNREPORTED = {
  name: 'its name is being looked up',
  'lost name': 'its name cannot be found, and rules match by name',
  pod: 'no container runtime has reported it',
} as const;

/** What an eviction would free of the signal's resource. An unknown usage counts as 0. */
export function freedBy(signal: ResourceSignal, { holding, usage = 0n, stays = 0n }: RankedWorkload): bigint {
  return holding ? countedBy(signal, holding.frees) : usage - stays;
}

export function protectionText(protection: Protection): string {
  switch (protection.kind) {
    case 'critical':
      return 'critical';
    case 'static':
      return 'static: its manifest would start it again';
    case 'kubelet':
      return 'a kubelet manages it, and would start it again';
    case 'unreported':
      return UNREPORTED[protection.what];
    case 'unlisted':
      return 'its processes, or the units in it, cannot be listed';
    case 'unit':
      return `protected unit (${protection.rule}): ${protection.why}`;
    case 'system':
      return `Windows needs it: ${protection.why}`;
    case 'omit':
      return 'it asks never to be evicted (ManagedOOMPreference=omit)';
    case 'changed':
      return 'its ManagedOOMPreference has just changed';
    case 'removed':
      return 'it has ended';
    case 'vacant':
      return 'it has no process';
    case 'self':
      return 'it contains evictd or an ancestor of evictd';
    case 'contains':
      return `contains ${protection.name}, which is protected`;
    case 'outside':
      return protection.cgroup === undefined ? 'outside the node' : `outside ${protection.cgroup}, whose memory is short`;
    case 'budget':
      return protection.minPriority === undefined
        ? 'the eviction budget is used up'
        : `the eviction budget of priority ${String(protection.minPriority)} and above is used up`;
    case 'kill-failed':
      return 'killing it failed a moment ago';
    case 'paused':
      return `an operator has paused its eviction: ${protection.reason}`;
    case 'no-yield':
      return 'the last eviction freed too little, and this workload has not grown since';
    case 'frees-nothing':
      if (protection.filesystem === undefined) return 'it has too few process ids to help';
      return `evicting it would free ${protection.little ? 'next to nothing' : 'nothing'} on ${protection.filesystem}`;
    case 'measuring':
      return `its disk usage on ${protection.filesystem} is being measured`;
    case 'protected-dependant':
      return `systemd also ${protection.how} ${protection.unit}, which is protected`;
    case 'emergency-action':
      return `its end may reboot the machine: ${protection.unit} has ${protection.setting}`;
  }
}

/** '300MiB resident, 20MiB swap, oom_score 812; app.scope uses 500MiB, has no request, priority 0' of a process. */
export function describeVictim(victim: RankedWorkload, resource: Resource): string {
  const { process: only, workload } = victim;
  const own = describeRanked(victim, resource);
  if (only === undefined) return own;
  const [resident, swap] = [only.residentBytes, only.swapBytes].map((bytes) => amountOfResource('memory', bytes));
  return `has ${resident ?? ''} resident, ${swap ?? ''} swap, oom_score ${String(only.oomScore)}; ${workload.name} ${own}`;
}

/** 'uses 200MiB, 136MiB above its request of 64MiB, priority -10'. */
export function describeRanked(ranked: RankedWorkload, resource: Resource): string {
  const { usage, requestNano, exceedsRequest, priority, protection, workload, holding, swapped, stays = 0n } = ranked;
  const amount = (nano: bigint): string => amountOfResource(resource, nano / NANO);
  const request =
    requestNano === 0n
      ? 'has no request'
      : usage === undefined
        ? `has a request of ${amount(requestNano)}`
        : exceedsRequest
          ? `${amount((usage - stays) * NANO - requestNano)} above its request of ${amount(requestNano)}`
          : `within its request of ${amount(requestNano)}`;
  const parts = [
    ...(swapped === undefined ? [] : [`${amountOfResource(resource, swapped)} of it swap`]),
    ...(stays === 0n ? [] : [`${amountOfResource(resource, stays)} of it shared memory, which stays`]),
  ];
  const which = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  const uses = usage === undefined ? 'uses an unknown amount' : `uses ${amountOfResource(resource, usage)}${which}`;
  const frees = holding === undefined ? [] : [`frees ${amountOfResource(resource, ofResource(resource, holding.frees))}`];
  const never = protection ? `; never evicted: ${protectionText(protection)}` : '';
  const avoid = workload.avoid
    ? [`to be avoided (${workload.oomPreference === 'avoid' ? 'ManagedOOMPreference=avoid' : 'a login session'})`]
    : [];
  return `${[uses, ...frees, ...(resource === 'pids' ? [] : [request]), `priority ${String(priority)}`, ...avoid].join(', ')}${never}`;
}
