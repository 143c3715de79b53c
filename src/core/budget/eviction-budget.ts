import type { Departures } from '../decide/departures.js';
import type { Decision, Outcome } from '../decide/eviction.js';
import type { Resource } from '../signal/signal.js';

/** How many evictions may be made for each resource (departure budget). */
export interface EvictionBudget {
  /** The maximum number of evictions in the window; 0: none, ever. */
  readonly max: number;
  readonly windowNs: bigint;
  /** Limits within `max` for important workloads. */
  readonly bands: readonly BudgetBand[];
}

/** A limit for important workloads: at most `max` evictions in the window are of workloads with at least this priority. */
export interface BudgetBand {
  readonly minPriority: number;
  readonly max: number;
}

export interface BudgetedEviction {
  /** Serial of the decision. */
  readonly decision: number;
  /** Monotonic. */
  readonly atNs: bigint;
  readonly priority: number;
  /** Its path, which it has again when it is started again. Left out: one of its processes ended, and it went on. */
  readonly victim?: string;
}

export type EvictionTimes = ReadonlyMap<Resource, readonly BudgetedEviction[]>;

export interface ExhaustedBudget {
  readonly max: number;
  /** Left out: the limit of all workloads. */
  readonly minPriority?: number;
  readonly windowNs: bigint;
  /** Time until an eviction leaves the window. Left out: never, `max` is 0. */
  readonly freeInNs?: bigint;
}

/** The part of a Policy that limits evictions. */
export interface BudgetPolicy {
  readonly departures: Pick<Departures, 'budget'>;
  readonly evictionBudget?: EvictionBudget;
}

/** undefined: evictions are not limited. */
export function budgetOf({ departures, evictionBudget }: BudgetPolicy): EvictionBudget | undefined {
  return departures.budget ? evictionBudget : undefined;
}

/**
 * Adds an eviction that was decided, and drops those that have left the window. Repeated evictions of one workload count
 * as one, at the time of the last. A storage limit is the workload's own, and a disruption is asked for.
 */
export function withBudgeted(policy: BudgetPolicy, times: EvictionTimes, decision: Decision): EvictionTimes {
  const budget = budgetOf(policy);
  const { serial, resource, cause, decidedAtNs: atNs, victim, repeats } = decision;
  const { path } = victim.workload;
  if (budget === undefined || cause.kind === 'storage-limit' || cause.kind === 'disruption') return times;
  const earlier = inWindow(budget, repeats ? withoutVictim(times, resource, path) : times, resource, atNs);
  return new Map(times).set(resource, [
    ...earlier,
    { decision: serial, atNs, priority: victim.priority, ...(victim.process === undefined && { victim: path }) },
  ]);
}

/** The times without the evictions of a workload, so that one more of it fits if it does not count anew. */
export function withoutVictim(times: EvictionTimes, resource: Resource, path: string): EvictionTimes {
  return new Map(times).set(resource, times.get(resource)?.filter(({ victim }) => victim !== path) ?? []);
}

/** The paths of the workloads that the budget counts. */
export function budgetedVictims(policy: BudgetPolicy, times: EvictionTimes, resource: Resource, nowNs: bigint): ReadonlySet<string> {
  const budget = budgetOf(policy);
  return new Set(budget && inWindow(budget, times, resource, nowNs).flatMap(({ victim }) => victim ?? []));
}

/** The times without the evictions whose victims got no signal. */
export function withoutUnsent(times: EvictionTimes, outcomes: readonly Outcome[]): EvictionTimes {
  const unsent = new Set(outcomes.filter(isUnsent).map(({ decision }) => decision.serial));
  if (unsent.size === 0) return times;
  return new Map([...times].map(([resource, evictions]) => [resource, evictions.filter(({ decision }) => !unsent.has(decision))]));
}

function isUnsent({ result, processesLeft }: Outcome): boolean {
  return result === 'vanished' || (result === 'failed' && processesLeft === undefined);
}

/**
 * The limit that forbids to evict a workload of this priority for the resource; undefined: none does.
 *
 * @param priority  left out: any workload
 */
export function exhaustedBudget(
  policy: BudgetPolicy,
  times: EvictionTimes,
  resource: Resource,
  nowNs: bigint,
  priority = -Infinity,
): ExhaustedBudget | undefined {
  const budget = budgetOf(policy);
  if (budget === undefined) return undefined;
  const { windowNs } = budget;
  const counted = inWindow(budget, times, resource, nowNs);
  for (const { minPriority, max } of [{ minPriority: -Infinity, max: budget.max }, ...budget.bands]) {
    if (priority < minPriority) continue;
    const own = counted.filter((eviction) => eviction.priority >= minPriority);
    if (own.length < max) continue;
    const first = own[own.length - max]; // when it leaves the window, one less than max is left
    const freeInNs = first && first.atNs + windowNs - nowNs;
    return { max, windowNs, ...(minPriority === -Infinity ? {} : { minPriority }), ...(freeInNs === undefined ? {} : { freeInNs }) };
  }
  return undefined;
}

/** When the next eviction for the resource leaves the window; undefined: none counts. */
export function budgetChangesNs(policy: BudgetPolicy, times: EvictionTimes, resource: Resource, nowNs: bigint): bigint | undefined {
  const budget = budgetOf(policy);
  const first = budget && inWindow(budget, times, resource, nowNs)[0];
  return first && first.atNs + budget.windowNs;
}

/** How many evictions may still be made for the resource, at least of workloads below all bands. */
export function remainingBudget(budget: EvictionBudget, times: EvictionTimes, resource: Resource, nowNs: bigint): number {
  return Math.max(0, budget.max - inWindow(budget, times, resource, nowNs).length);
}

/** An eviction that is as old as the window does not count. */
function inWindow({ windowNs }: EvictionBudget, times: EvictionTimes, resource: Resource, nowNs: bigint): readonly BudgetedEviction[] {
  return (times.get(resource) ?? []).filter(({ atNs }) => nowNs - atNs < windowNs);
}
