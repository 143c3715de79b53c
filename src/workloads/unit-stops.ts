import { planUnitStop, unsettled, type EmergencyAction, type KnownUnits, type TakesAlong, type UnitStop } from '../core/unit-stop.js';
import type { Candidates, Workload, WorkloadUsage } from '../core/workload.js';
import type { UnitManager, WorkloadSource } from '../monitor/ports.js';

/** So many are asked for ahead: to ask for all would keep systemd busy. */
const ASKED_AHEAD = 4;

/** A source whose units of the system manager are not evicted where that would take a protected one along, or the machine, and of which it is said how they are stopped. */
export function withUnitStops(source: WorkloadSource, units: UnitManager, isProtected: KnownUnits['isProtected']): WorkloadSource {
  const known: KnownUnits = { unit: (name) => units.unit(name), isProtected };
  const planOf = ({ unit, path }: Workload): UnitStop | TakesAlong | EmergencyAction | undefined =>
    unit?.manager === 'system' ? planUnitStop(unit.name, path, known) : undefined;
  const stopOf = (workload: Workload): UnitStop | undefined => {
    const plan = planOf(workload);
    if (plan === undefined || isVeto(plan)) return undefined;
    return plan.kind === 'stop' && !units.reach()
      ? { kind: 'signal', because: 'unreachable', unit: workload.unit?.name ?? workload.name, along: plan.along }
      : plan;
  };
  const patience = new Patience();
  /** All at once, whether or not one is waited for. */
  const ask = (name: string): boolean =>
    unsettled(name, known)
      .map((other) => units.awaited(other))
      .includes(true);
  const withStops = (found: Candidates): Candidates => ({
    ...found,
    veto: (workload) => {
      const protection = found.veto?.(workload);
      if (protection !== undefined) return protection;
      const plan = planOf(workload);
      return plan && isVeto(plan) ? plan : undefined;
    },
    awaited: ({ unit, id }, withinNs) => unit?.manager === 'system' && ask(unit.name) && patience.isLeft(id, withinNs),
    stop: stopOf,
  });
  return {
    candidates: () => {
      const found = source.candidates();
      // Whoever has come since the last tick, and the largest, are asked for now, which is mostly before anybody has to go: candidates are read on the approach, too.
      for (const { workload } of found.usages) {
        if (workload.unit?.manager === 'system' && units.unit(workload.unit.name) === undefined) units.awaited(workload.unit.name);
      }
      for (const { workload } of largest(found.usages)) if (workload.unit?.manager === 'system') ask(workload.unit.name);
      return withStops(found);
    },
    refresh: () => {
      source.refresh();
    },
    holding: (cgroup) => source.holding(cgroup),
    close: () => {
      source.close();
    },
    problems: () => {
      const problem = units.problem();
      return problem === undefined ? source.problems() : [...source.problems(), problem];
    },
  };
}

function isVeto(plan: UnitStop | TakesAlong | EmergencyAction): plan is TakesAlong | EmergencyAction {
  return plan.kind === 'takes-along' || plan.kind === 'emergency-action';
}

/** Whoever is asked about again after so long has a new decision to be waited for. Longer than any of them waits. */
const FORGOTTEN_NS = 500_000_000n;

/** What is asked for one after the other may each be told in time: who has to decide waits for all of it together. */
class Patience {
  #id: string | undefined;
  #sinceNs = 0n;

  /** From the first time on that it is asked for, which is over when it is asked for late. */
  isLeft(id: string, withinNs: bigint): boolean {
    const nowNs = process.hrtime.bigint();
    if (id !== this.#id || nowNs - this.#sinceNs >= FORGOTTEN_NS) {
      this.#id = id;
      this.#sinceNs = nowNs;
    }
    return nowNs - this.#sinceNs < withinNs;
  }
}

function largest(usages: readonly WorkloadUsage[]): readonly WorkloadUsage[] {
  const used = ({ stats }: WorkloadUsage): number => Number(stats?.workingSetBytes ?? 0n);
  return [...usages].sort((a, b) => used(b) - used(a)).slice(0, ASKED_AHEAD);
}
