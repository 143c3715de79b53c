import type { EvictionInFlight } from '../decide/eviction.js';
import type { Disruptions } from './disruption-cause.js';
import type { OperatingSystem } from '../signal/operating-system.js';
import { compileMatch, namedOf, patternsOf, type Rule } from '../workload/rule.js';
import type { Candidates, Protection, Workload } from '../workload/workload.js';

/** Whether a workload that is not healthy may be evicted: as its budget permits, or always (unhealthyPodEvictionPolicy). */
export const UNHEALTHY_POLICIES = ['IfHealthyBudget', 'AlwaysAllow'] as const;

/** Kubernetes' PodDisruptionBudget (policy/v1) for the workloads of a machine. */
export interface DisruptionBudget {
  readonly name: string;
  readonly match: Rule['match'];
  readonly limit: DisruptionLimit;
  /** How many workloads there are when all of them run. Left out: those that are present. */
  readonly expected?: number;
  readonly unhealthyPolicy: (typeof UNHEALTHY_POLICIES)[number];
}

/** A number of workloads, or a percentage of the expected ones, which is rounded up. */
export interface DisruptionLimit {
  readonly of: 'minAvailable' | 'maxUnavailable';
  readonly value: number;
  readonly isPercentage: boolean;
}

/** A budget in force. */
export interface PolicyBudget extends DisruptionBudget {
  /** Decides what its patterns mean. */
  readonly os: OperatingSystem;
}

export interface BudgetStatus {
  readonly expected: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
}

export interface NamedBudgetStatus extends BudgetStatus {
  readonly name: string;
}

/** 'disruption budget web: 3 of 3 healthy, 2 desired, 1 may be evicted'. */
export function budgetStatusText({ name, expected, currentHealthy, desiredHealthy, disruptionsAllowed }: NamedBudgetStatus): string {
  const counts = `${String(currentHealthy)} of ${String(expected)} healthy, ${String(desiredHealthy)} desired`;
  return `disruption budget ${name}: ${counts}, ${String(disruptionsAllowed)} may be evicted`;
}

const MATCHES = new WeakMap<PolicyBudget, ReturnType<typeof compileMatch>>();

export function isOfBudget(budget: PolicyBudget, workload: Parameters<typeof namedOf>[0]): boolean {
  const matches = MATCHES.get(budget) ?? compileMatch(budget.match, patternsOf(budget.os));
  MATCHES.set(budget, matches);
  return matches(namedOf(workload));
}

/** Counts as the disruption controller (pkg/controller/disruption/disruption.go, getExpectedPodCount and updatePdbStatus, v1.36.2). */
export function budgetStatus(
  { limit, expected: configured }: Pick<DisruptionBudget, 'limit' | 'expected'>,
  known: number,
  currentHealthy: number,
): BudgetStatus {
  const expected = configured ?? known;
  const scaled = limit.isPercentage ? Math.ceil((limit.value * expected) / 100) : limit.value;
  const desiredHealthy = limit.of === 'minAvailable' ? scaled : Math.max(0, expected - scaled);
  return { expected, currentHealthy, desiredHealthy, disruptionsAllowed: Math.max(0, currentHealthy - desiredHealthy) };
}

/**
 * Candidates of which each is asked once. A veto reads processes, and says only once that a preference has changed: the second
 * question would end a workload that is protected by now.
 */
export interface AskedOnce extends Candidates {
  /** The workloads of a budget that have a process. */
  readonly presentOf: (budget: PolicyBudget) => readonly Workload[];
}

export function askedOnce(found: Candidates): AskedOnce {
  const ask = found.veto;
  const answers = new Map<string, Protection | undefined>();
  const veto = (workload: Workload): Protection | undefined => {
    if (!answers.has(workload.id)) answers.set(workload.id, ask?.(workload));
    return answers.get(workload.id);
  };
  const present = new Map<PolicyBudget, readonly Workload[]>();
  const presentOf = (budget: PolicyBudget): readonly Workload[] => {
    const known = present.get(budget);
    if (known !== undefined) return known;
    const own = found.usages.flatMap(({ workload }) => (isOfBudget(budget, workload) && isPresent(workload, { veto }) ? [workload] : []));
    present.set(budget, own);
    return own;
  };
  return { ...found, ...(ask && { veto }), presentOf };
}

/** The workloads of a machine, as far as budgets need them. */
export interface Disruptable extends Pick<AskedOnce, 'presentOf' | 'veto'> {
  /** Ids of the workloads that are being ended. */
  readonly ending: ReadonlySet<string>;
  /** The number of workloads before evictions by an operator, by name of the budget. Left out: not known. */
  readonly before?: ReadonlyMap<string, number>;
}

/** The workloads that are being ended as a whole. */
export function endingIds(evictions: readonly EvictionInFlight[]): ReadonlySet<string> {
  return new Set(evictions.flatMap(({ decision: { victim } }) => (victim.process === undefined ? [victim.workload.id] : [])));
}

/** How many workloads a budget was for before the last eviction by an operator, and when that was (monotonic). */
export type DisruptedBudgets = ReadonlyMap<string, { readonly expected: number; readonly atNs: bigint }>;

/** The time after which a workload that has not come back counts as gone for good. */
const REMEMBERED_NS = 3_600_000_000_000n;

/** The parts of the state that budgets depend on. */
export interface Disrupted {
  readonly evictions: readonly EvictionInFlight[];
  readonly disruptedBudgets: DisruptedBudgets;
  /** Workloads with a requested end, which count as being ended. Left out: the step decides them now. */
  readonly disruptions?: Disruptions;
}

/** The workloads of a step or of a question of an operator. */
export function disruptable(
  { presentOf, veto }: Pick<AskedOnce, 'presentOf' | 'veto'>,
  { evictions, disruptedBudgets, disruptions }: Disrupted,
  nowNs: bigint,
): Disruptable {
  return {
    presentOf,
    ...(veto && { veto }),
    ending: new Set([...endingIds(evictions), ...(disruptions?.keys() ?? [])]),
    before: new Map([...remembered(disruptedBudgets, nowNs)].map(([name, { expected }]) => [name, expected])),
  };
}

/** The budgets without entries that are too old. */
export function remembered(budgets: DisruptedBudgets, nowNs: bigint): DisruptedBudgets {
  return new Map([...budgets].filter(([, { atNs }]) => nowNs - atNs < REMEMBERED_NS));
}

/** It has a process, its unit is up, and it is not being ended. */
export function isHealthy(workload: Workload, among: Disruptable): boolean {
  return !among.ending.has(workload.id) && workload.unit?.state === undefined && isPresent(workload, among);
}

/** It has a process: a cgroup or a job outlasts its processes. */
export function isPresent(workload: Workload, { veto }: Pick<Candidates, 'veto'>): boolean {
  const kind = veto?.(workload)?.kind;
  return kind !== 'vacant' && kind !== 'removed';
}

/** What a budget permits now. A protected workload counts as any other. */
export function statusNow(budget: PolicyBudget, among: Disruptable): BudgetStatus {
  const present = among.presentOf(budget);
  const expected = Math.max(present.length, among.before?.get(budget.name) ?? 0);
  return budgetStatus(budget, expected, present.filter((workload) => isHealthy(workload, among)).length);
}

/** What each budget permits now: examines the processes of its workloads. */
export function budgetStatuses(budgets: readonly PolicyBudget[], among: Disruptable): readonly NamedBudgetStatus[] {
  return budgets.map((budget) => ({ name: budget.name, ...statusNow(budget, among) }));
}

/** The names of the budgets that would not permit this eviction. Node pressure does not respect them. */
export function violatedBudgets(budgets: readonly PolicyBudget[], victim: Workload, among: Disruptable): readonly string[] {
  const own = budgets.filter((budget) => isOfBudget(budget, victim));
  if (own.length === 0 || !isHealthy(victim, among)) return [];
  return own.filter((budget) => statusNow(budget, among).disruptionsAllowed === 0).map(({ name }) => name);
}
