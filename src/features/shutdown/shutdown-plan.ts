import { withAncestors } from '../../core/workload/cgroup.js';
import { API_SERVER } from '../../core/kubernetes/kubernetes-part.js';
import type { ShutdownGracePeriod } from '../../core/workload/shutdown-config.js';
import {
  SYSTEM_CRITICAL_PRIORITY,
  type Candidates,
  type ShutdownGroupStart,
  type Workload,
  type Protection,
} from '../../core/workload/workload.js';
import { exemptFromShutdown } from '../../core/workload/shutdown-exempt.js';

/** Whether workloads that end at a shutdown may be missing: pods of a kubelet do not end with it. */
export function awaitsRuntime({ awaitedRuntimes = [] }: Candidates): boolean {
  return awaitedRuntimes.some((endpoint) => endpoint !== API_SERVER);
}

/** `gracePeriodNs`: the smaller of its own and its group's. */
export interface ShutdownWorkload {
  readonly workload: Workload;
  readonly gracePeriodNs: bigint;
}

export interface ShutdownGroup extends ShutdownGracePeriod {
  /** The workloads in the given order. */
  readonly workloads: readonly ShutdownWorkload[];
}

/**
 * Groups workloads in the order of the periods. A workload belongs to the highest group that is not above its priority,
 * or to the lowest group (kubelet: nodeshutdown_manager.go, groupByPriority and killPods, v1.36.2). A negative grace
 * period of its own is passed on.
 *
 * @param periods  the lowest priority first; of equals the first has that priority, the last the higher ones
 * @param turns  from {@link shutdownGroupIndexes}
 */
export function groupByPriority(
  periods: readonly ShutdownGracePeriod[],
  workloads: readonly Workload[],
  turns = shutdownGroupIndexes(periods, workloads),
): readonly ShutdownGroup[] {
  return periods.map((period, index) => ({
    ...period,
    workloads: workloads
      .filter(({ id }) => turns.get(id) === index)
      .map((workload) => ({ workload, gracePeriodNs: graceIn(period, workload) })),
  }));
}

/**
 * Index of the shutdown group per workload. A parent, or a unit that stops others, belongs to the last group of those
 * that would end with it.
 *
 * @param stoppedWith  from {@link workloadsStoppedWith}
 * @param before  from an earlier look: no workload moves to an earlier group, even if its children have ended
 */
export function shutdownGroupIndexes(
  periods: readonly ShutdownGracePeriod[],
  workloads: readonly Workload[],
  before: ReadonlyMap<string, number> = new Map(),
  stoppedWith: WorkloadsStoppedWith = new Map(),
): ReadonlyMap<string, number> {
  let turns: ReadonlyMap<string, number> = new Map(
    workloads.map((one) => [one.id, Math.max(groupIndex(periods, shutdownPriority(one)), before.get(one.id) ?? 0)]),
  );
  for (;;) {
    const later = withOthers(workloads, turns, stoppedWith);
    if (workloads.every(({ id }) => later.get(id) === turns.get(id))) return turns;
    turns = later;
  }
}

/**
 * One round. A unit that stops others may have a parent, and the other way round, so rounds repeat until nothing
 * changes.
 */
function withOthers(
  workloads: readonly Workload[],
  turns: ReadonlyMap<string, number>,
  stoppedWith: WorkloadsStoppedWith,
): ReadonlyMap<string, number> {
  const turnOf = ({ id }: Workload): number => turns.get(id) ?? 0;
  const lastBelow = new Map<string, number>();
  for (const one of workloads) {
    for (const above of withAncestors(one.path).slice(1)) lastBelow.set(above, Math.max(turnOf(one), lastBelow.get(above) ?? 0));
  }
  const turnWith = (one: Workload): number =>
    Math.max(turnOf(one), lastBelow.get(one.path) ?? 0, ...(stoppedWith.get(one.id) ?? []).map((other) => turnOf(other)));
  return new Map(workloads.map((one) => [one.id, turnWith(one)]));
}

/** The workloads that systemd stops with a unit, by id of the unit's workload. */
export type WorkloadsStoppedWith = ReadonlyMap<string, readonly Workload[]>;

/** The workloads that systemd stops with a unit, as far as known. */
export function workloadsStoppedWith(
  { usages, stop }: Pick<Candidates, 'usages' | 'stop'>,
  turn: ShutdownGroupStart,
): WorkloadsStoppedWith {
  const units = usages.flatMap(({ workload }) => (workload.unit?.manager === 'system' ? [{ workload, name: workload.unit.name }] : []));
  const byName = new Map(units.map(({ workload, name }) => [name, workload]));
  return new Map(
    units.flatMap(({ workload }) => {
      const found = stop?.(workload, { shutdown: turn });
      const names = found?.kind === 'stop' ? found.dependants : (found?.affected ?? []);
      const members = names.flatMap((name) => byName.get(name) ?? []);
      return members.length === 0 ? [] : [[workload.id, members]];
    }),
  );
}

/** A machine workload that a rule calls critical ends with the critical group, whatever its eviction priority. */
function shutdownPriority({ pod, protection, priority }: Workload): number {
  const isCritical = pod === undefined && protection?.kind === 'critical';
  return isCritical ? Math.max(priority, SYSTEM_CRITICAL_PRIORITY) : priority;
}

function groupIndex(periods: readonly ShutdownGracePeriod[], priority: number): number {
  const index = periods.findIndex((period) => period.priority >= priority);
  if (index === -1) return periods.length - 1;
  return index > 0 && periods[index]?.priority !== priority ? index - 1 : index;
}

function graceIn({ gracePeriodNs }: ShutdownGracePeriod, { terminationGracePeriodNs: own }: Workload): bigint {
  return own !== undefined && own <= gracePeriodNs ? own : gracePeriodNs;
}

/** The workloads that a shutdown ends, and those that it leaves to systemd, by path. */
export interface ShutdownWorkloads {
  readonly ended: readonly Workload[];
  readonly leftAlone: readonly { readonly workload: Workload; readonly why: Protection }[];
}

/** Empty workloads are omitted. */
export function workloadsAtShutdown({ usages, veto }: Pick<Candidates, 'usages' | 'veto'>): ShutdownWorkloads {
  const looked = usages
    .map(({ workload }) => ({ workload, found: veto?.(workload) }))
    .filter(({ found }) => found?.kind !== 'vacant' && found?.kind !== 'removed')
    .map(({ workload, found }) => ({ workload, why: exemptFromShutdown(workload, found) }))
    .sort((a, b) => (a.workload.path < b.workload.path ? -1 : 1));
  return {
    ended: looked.flatMap(({ workload, why }) => (why === undefined ? [workload] : [])),
    leftAlone: looked.flatMap(({ workload, why }) => (why === undefined ? [] : [{ workload, why }])),
  };
}

/** A workload for the code that ends it. Protection from eviction does not apply at a shutdown. */
export function unprotected(workload: Workload): Workload {
  return { ...workload, protection: undefined };
}

/** Start and end of a group, since the shutdown began. */
export interface ShutdownPhase {
  readonly group: ShutdownGroup;
  readonly startsAtNs: bigint;
  readonly endsAtNs: bigint;
}

/**
 * A group begins when the last workload of the one before has ended, or that group's time is over. An empty group takes
 * no time (kubelet: nodeshutdown_manager.go, killPods, v1.36.2).
 *
 * @param exitsAfterNs  how long a workload takes to end
 */
export function shutdownTimeline(
  groups: readonly ShutdownGroup[],
  exitsAfterNs: (workload: ShutdownWorkload) => bigint,
): readonly ShutdownPhase[] {
  let atNs = 0n;
  return groups.map((group) => {
    const longestNs = group.workloads.map(exitsAfterNs).reduce((longest, ns) => (ns > longest ? ns : longest), 0n);
    const startsAtNs = atNs;
    const takenNs = longestNs < group.gracePeriodNs ? longestNs : group.gracePeriodNs;
    atNs += takenNs > 0n ? takenNs : 0n;
    return { group, startsAtNs, endsAtNs: atNs };
  });
}

/** The latest possible: every workload uses its time, and a parent is asked after its children have ended. */
export function latestTimeline(groups: readonly ShutdownGroup[]): readonly ShutdownPhase[] {
  const exits = new Map(groups.flatMap(latestExits));
  return shutdownTimeline(groups, (workload) => exits.get(workload) ?? 0n);
}

function latestExits({ workloads }: ShutdownGroup): readonly (readonly [ShutdownWorkload, bigint])[] {
  const below = new Map<string, bigint>();
  const innermostFirst = [...workloads].sort((a, b) => b.workload.path.length - a.workload.path.length);
  return innermostFirst.map((one) => {
    const exitNs = one.gracePeriodNs + (below.get(one.workload.path) ?? 0n);
    for (const above of withAncestors(one.workload.path).slice(1)) {
      if (exitNs > (below.get(above) ?? 0n)) below.set(above, exitNs);
    }
    return [one, exitNs] as const;
  });
}
