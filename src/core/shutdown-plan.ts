import { withAncestors } from './cgroup.js';
import type { ShutdownGracePeriod } from './shutdown-config.js';
import { SYSTEM_CRITICAL_PRIORITY, type Candidates, type ShutdownTurn, type Workload } from './workload.js';

/** A workload that ends at a shutdown, and what it gets for that: the smaller of its own grace and its group's. */
export interface ShutdownWorkload {
  readonly workload: Workload;
  readonly gracePeriodNs: bigint;
}

export interface ShutdownGroup extends ShutdownGracePeriod {
  /** In the order in which they were given. */
  readonly workloads: readonly ShutdownWorkload[];
}

/**
 * Who ends with whom, in the order of the periods: a workload belongs to the highest group that is not above its priority, and below all groups to the
 * lowest (kubelet: nodeshutdown_manager.go, groupByPriority and killPods, v1.36.2). A negative grace of its own is passed on.
 *
 * @param periods  the lowest priority first; of equal ones the first has those of that priority, the last those above it
 * @param turns  as {@link shutdownTurns} says
 */
export function groupByPriority(
  periods: readonly ShutdownGracePeriod[],
  workloads: readonly Workload[],
  turns = shutdownTurns(periods, workloads),
): readonly ShutdownGroup[] {
  return periods.map((period, index) => ({
    ...period,
    workloads: workloads
      .filter(({ id }) => turns.get(id) === index)
      .map((workload) => ({ workload, gracePeriodNs: graceIn(period, workload) })),
  }));
}

/**
 * The places of their groups, by workload id. Whoever holds others, or takes them along, which would end with it, ends with the last of these, whatever its own priority is.
 *
 * @param along  as {@link stoppedAlong} says
 * @param before  as of an earlier look: nobody's turn comes sooner than was found then, also where those are gone that it holds
 */
export function shutdownTurns(
  periods: readonly ShutdownGracePeriod[],
  workloads: readonly Workload[],
  before: ReadonlyMap<string, number> = new Map(),
  along: StoppedAlong = new Map(),
): ReadonlyMap<string, number> {
  let turns: ReadonlyMap<string, number> = new Map(
    workloads.map((one) => [one.id, Math.max(groupIndex(periods, shutdownPriority(one)), before.get(one.id) ?? 0)]),
  );
  for (;;) {
    const later = withOthers(workloads, turns, along);
    if (workloads.every(({ id }) => later.get(id) === turns.get(id))) return turns;
    turns = later;
  }
}

/** One of those that it takes along may hold others, and the other way round: as often as it takes. */
function withOthers(workloads: readonly Workload[], turns: ReadonlyMap<string, number>, along: StoppedAlong): ReadonlyMap<string, number> {
  const turnOf = ({ id }: Workload): number => turns.get(id) ?? 0;
  const lastBelow = new Map<string, number>();
  for (const one of workloads) {
    for (const above of withAncestors(one.path).slice(1)) lastBelow.set(above, Math.max(turnOf(one), lastBelow.get(above) ?? 0));
  }
  const turnWith = (one: Workload): number =>
    Math.max(turnOf(one), lastBelow.get(one.path) ?? 0, ...(along.get(one.id) ?? []).map((other) => turnOf(other)));
  return new Map(workloads.map((one) => [one.id, turnWith(one)]));
}

/** By workload id: the other workloads that systemd stops with a unit, because they need it. */
export type StoppedAlong = ReadonlyMap<string, readonly Workload[]>;

/** As far as it is known. */
export function stoppedAlong({ usages, stop }: Pick<Candidates, 'usages' | 'stop'>, turn: ShutdownTurn): StoppedAlong {
  const units = usages.flatMap(({ workload }) => (workload.unit?.manager === 'system' ? [{ workload, name: workload.unit.name }] : []));
  const byName = new Map(units.map(({ workload, name }) => [name, workload]));
  return new Map(
    units.flatMap(({ workload }) => {
      const found = stop?.(workload, turn);
      const names = found?.kind === 'stop' ? found.dependants : (found?.along ?? []);
      const along = names.flatMap((name) => byName.get(name) ?? []);
      return along.length === 0 ? [] : [[workload.id, along]];
    }),
  );
}

/** A machine workload that a rule calls critical ends with the critical ones, whatever its priority among evictions is. */
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
