import { planUnitStop, unsettled, type EmergencyAction, type KnownUnits, type TakesAlong, type UnitStop } from '../core/unit-stop.js';
import type { Candidates, ShutdownGroupStart, Workload, WorkloadUsage } from '../core/workload.js';
import type { UnitManager, WorkloadSource } from '../monitor/ports.js';

/** So many are asked for ahead: to ask for all would keep systemd busy. */
const ASKED_AHEAD = 4;

/**
 * A source whose units of the system manager are not evicted where that would take a protected one along, or the machine, and of which it is said how they are stopped.
 *
 * @param isListed  protected, and not only because rules call it critical: a critical one, which ends with the critical ones at a shutdown, may take these along
 */
export function withUnitStops(
  source: WorkloadSource,
  units: UnitManager,
  isProtected: KnownUnits['isProtected'],
  isListed = isProtected,
): WorkloadSource {
  const knownSince = (shutdown: ShutdownGroupStart | undefined): Pick<KnownUnits, 'unit'> => ({
    unit: (name) => units.unit(name, shutdown?.sinceNs),
  });
  const planOf = (
    { unit, path, protection }: Workload,
    shutdown?: ShutdownGroupStart,
  ): UnitStop | TakesAlong | EmergencyAction | undefined => {
    const known = { ...knownSince(shutdown), isProtected: protection?.kind === 'critical' ? isListed : isProtected };
    return unit?.manager === 'system' ? planUnitStop(unit.name, path, known, shutdown !== undefined) : undefined;
  };
  const stopOf = (workload: Workload, shutdown?: ShutdownGroupStart): UnitStop | undefined => {
    const plan = planOf(workload, shutdown);
    if (plan === undefined || isVeto(plan)) return undefined;
    return plan.kind === 'stop' && !units.connect()
      ? { kind: 'signal', because: 'unreachable', unit: workload.unit?.name ?? workload.name, along: plan.along }
      : plan;
  };
  const patience = new Patience();
  /** All at once, whether or not one is waited for. At a shutdown a connection that was lost is waited for, too. */
  const ask = (name: string, withinNs?: bigint, shutdown?: ShutdownGroupStart): boolean =>
    unsettled(name, knownSince(shutdown), shutdown?.sinceNs)
      .map((other) => units.awaited(other, shutdown && withinNs, shutdown?.sinceNs))
      .includes(true) ||
    (shutdown !== undefined && !units.connect() && units.unit(name) !== undefined);
  const withStops = (found: Candidates): Candidates => ({
    ...found,
    veto: (workload) => {
      const protection = found.veto?.(workload);
      // What has changed keeps nobody from being ended at a shutdown.
      if (protection !== undefined && protection.kind !== 'changed') return protection;
      const plan = planOf(workload);
      return plan && isVeto(plan) ? plan : protection;
    },
    awaited: ({ unit, id }, withinNs, shutdown) =>
      unit?.manager === 'system' &&
      ask(unit.name, withinNs, shutdown) &&
      (shutdown ? process.hrtime.bigint() - shutdown.sinceNs < withinNs : patience.isLeft(id, withinNs)),
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

/** What is asked for one after the other may each be told in time: who has to decide waits for all of it together. One decision may ask about several. */
class Patience {
  /** By workload id, in the order in which they were first asked about. */
  readonly #sinceNs = new Map<string, bigint>();

  /** From the first time on that it is asked for, which is over when it is asked for late. */
  isLeft(id: string, withinNs: bigint): boolean {
    const nowNs = process.hrtime.bigint();
    for (const [known, sinceNs] of this.#sinceNs) {
      if (nowNs - sinceNs < FORGOTTEN_NS) break;
      this.#sinceNs.delete(known);
    }
    const sinceNs = this.#sinceNs.get(id) ?? nowNs;
    this.#sinceNs.set(id, sinceNs);
    return nowNs - sinceNs < withinNs;
  }
}

function largest(usages: readonly WorkloadUsage[]): readonly WorkloadUsage[] {
  const used = ({ stats }: WorkloadUsage): number => Number(stats?.workingSetBytes ?? 0n);
  return [...usages].sort((a, b) => used(b) - used(a)).slice(0, ASKED_AHEAD);
}
