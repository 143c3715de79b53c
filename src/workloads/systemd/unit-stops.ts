import {
  planUnitStop,
  unitsToRead,
  type EmergencyAction,
  type KnownUnits,
  type ProtectedDependant,
  type UnitStop,
} from '../../core/systemd/unit-stop.js';
import type { LoadedUnit } from '../../core/systemd/loaded-unit.js';
import type { Candidates, ShutdownGroupStart, StopQuestion, Workload, WorkloadUsage } from '../../core/workload/workload.js';
import type { UnitManager, WorkloadSource } from '../../monitor/ports/ports.js';

/** The largest units, asked about ahead. Asking about all would keep systemd busy. */
const ASKED_AHEAD = 4;

/**
 * `besidesCritical`: ignores that a rule makes the unit critical. A critical unit, which ends last at a shutdown, may
 * stop other critical ones.
 */
export type UnitProtection = (unit: Parameters<KnownUnits['isProtected']>[0], besidesCritical?: boolean) => boolean;

/**
 * Adds to a source how units of the system manager are stopped, and protects units whose stop would stop a protected
 * one or the machine.
 */
export function withUnitStops(source: WorkloadSource, units: UnitManager, isProtected: UnitProtection): WorkloadSource {
  const planOf = unitStopPlan(units, isProtected);
  const budget = new WaitBudget();
  return {
    candidates: (reading) => {
      const found = source.candidates(reading);
      if (reading !== 'bounds') askAhead(units, found.usages); // in a decision that would delay the signal
      return withStops(found, units, planOf, budget);
    },
    refresh: () => {
      source.refresh();
    },
    version: () => source.version?.(),
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

/**
 * How a unit that has just been killed is stopped, as if it still ran, when systemd has reported all that depends on it
 * now; 'awaited': it has been asked.
 */
export type FinalUnitStop = (workload: Workload) => UnitStop | ProtectedDependant | EmergencyAction | 'awaited' | undefined;

export function finalUnitStopOf(units: UnitManager, isProtected: UnitProtection): FinalUnitStop {
  return (workload) => {
    const { unit, path } = workload;
    if (unit?.manager === 'system' && ask(units, unit.name)) return 'awaited';
    const asRunning = (name: string): LoadedUnit | undefined => {
      const loaded = units.unit(name);
      return loaded && name === unit?.name ? { ...loaded, activeState: 'active', controlGroup: path } : loaded;
    };
    return unitStopPlan({ unit: asRunning }, isProtected)(workload);
  };
}

type UnitStopPlan = (workload: Workload, when?: StopQuestion) => UnitStop | ProtectedDependant | EmergencyAction | undefined;

function unitStopPlan(units: Pick<UnitManager, 'unit'>, isProtected: UnitProtection): UnitStopPlan {
  return ({ unit, path, protection }, { shutdown, asKnown = false } = {}) => {
    if (unit?.manager !== 'system') return undefined;
    const isCritical = protection?.kind === 'critical';
    const since = knownSince(units, shutdown);
    const unitOf: KnownUnits['unit'] = (name) => {
      const loaded = since.unit(name);
      return loaded && asKnown ? { ...loaded, unsure: false } : loaded;
    };
    const known: KnownUnits = { unit: unitOf, isProtected: (other) => isProtected(other, isCritical) };
    return planUnitStop(unit.name, path, known, shutdown !== undefined);
  };
}

function withStops(found: Candidates, units: UnitManager, planOf: UnitStopPlan, budget: WaitBudget): Candidates {
  return {
    ...found,
    veto: (workload) => {
      const protection = found.veto?.(workload);
      // `changed` does not prevent an end at a shutdown.
      if (protection !== undefined && protection.kind !== 'changed') return protection;
      const plan = planOf(workload);
      return plan && isVeto(plan) ? plan : protection;
    },
    awaited: ({ unit, id }, withinNs, shutdown) =>
      unit?.manager === 'system' &&
      ask(units, unit.name, withinNs, shutdown) &&
      (shutdown ? process.hrtime.bigint() - shutdown.sinceNs < withinNs : budget.hasTime(id, withinNs)),
    stop: (workload, when) => {
      const plan = planOf(workload, when);
      if (plan === undefined || isVeto(plan)) return undefined;
      return plan.kind === 'stop' && !units.connect()
        ? { kind: 'signal', because: 'unreachable', unit: workload.unit?.name ?? workload.name, affected: plan.affected }
        : plan;
    },
  };
}

function knownSince(units: Pick<UnitManager, 'unit'>, shutdown: ShutdownGroupStart | undefined): Pick<KnownUnits, 'unit'> {
  return { unit: (name) => units.unit(name, shutdown?.sinceNs) };
}

/** Asks about all at once. At a shutdown it also waits for a lost connection. */
function ask(units: UnitManager, name: string, withinNs?: bigint, shutdown?: ShutdownGroupStart): boolean {
  return (
    unitsToRead(name, knownSince(units, shutdown), shutdown?.sinceNs)
      .map((other) => units.awaited(other, withinNs, shutdown?.sinceNs))
      .includes(true) ||
    (shutdown !== undefined && !units.connect() && units.unit(name) !== undefined)
  );
}

function isVeto(plan: UnitStop | ProtectedDependant | EmergencyAction): plan is ProtectedDependant | EmergencyAction {
  return plan.kind === 'protected-dependant' || plan.kind === 'emergency-action';
}

/** Questions about a workload after so long without one belong to a new decision. */
const FORGOTTEN_NS = 30_000_000_000n;

/** Bounds the total wait of one decision, which may ask about several workloads. */
class WaitBudget {
  /** The times of the first and the last question, by workload id. The workload that was asked about last is last. */
  readonly #asked = new Map<string, { readonly firstNs: bigint; readonly lastNs: bigint }>();

  /** Measured from the first question; a late one gets no time. */
  hasTime(id: string, withinNs: bigint): boolean {
    const nowNs = process.hrtime.bigint();
    for (const [known, { lastNs }] of this.#asked) {
      if (nowNs - lastNs < FORGOTTEN_NS) break;
      this.#asked.delete(known);
    }
    const firstNs = this.#asked.get(id)?.firstNs ?? nowNs;
    this.#asked.delete(id);
    this.#asked.set(id, { firstNs, lastNs: nowNs });
    return nowNs - firstNs < withinNs;
  }
}

/** Asks about new and large units ahead of a decision. */
function askAhead(units: UnitManager, usages: readonly WorkloadUsage[]): void {
  const ofSystem = usages.filter(({ workload: { unit } }) => unit?.manager === 'system');
  for (const { workload } of ofSystem) {
    const { name = '' } = workload.unit ?? {};
    if (units.unit(name) === undefined) units.awaited(name);
  }
  const used = ({ stats }: WorkloadUsage): number => Number(stats?.workingSetBytes ?? 0n);
  const largest = ofSystem.sort((a, b) => used(b) - used(a)).slice(0, ASKED_AHEAD);
  for (const { workload } of largest) ask(units, workload.unit?.name ?? '');
}
