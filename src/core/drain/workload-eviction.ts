import type { Effect } from '../decide/effect.js';
import type { Policy } from '../decide/state.js';
import type { Workload } from '../workload/workload.js';
import {
  disruptable,
  isHealthy,
  isOfBudget,
  statusNow,
  type AskedOnce,
  type Disrupted,
  type DisruptedBudgets,
} from '../disruption/disruption-budget.js';
import type { DisruptionCause } from '../disruption/disruption-cause.js';
import { evictPod, type EvictionFailure, type EvictionRequest, type PodBudget } from './pod-eviction.js';

interface BudgetContext {
  readonly policy: Pick<Policy, 'disruptionBudgets' | 'dryRun'>;
  readonly found: AskedOnce;
  readonly nowNs: bigint;
}

export type EvictionOptions = Pick<EvictionRequest, 'queryDryRun' | 'optionsDryRun' | 'uid' | 'resourceVersion'>;

const NO_OPTIONS: EvictionOptions = { queryDryRun: [], optionsDryRun: [], uid: undefined, resourceVersion: undefined };

/** Why Kubernetes' eviction API would refuse this workload now. undefined: it would evict it. Its uid is the id of the workload. */
export function evictionFailure(
  { policy: { disruptionBudgets = [] }, found, nowNs }: BudgetContext,
  before: Disrupted,
  workload: Workload,
  options = NO_OPTIONS,
): EvictionFailure | undefined {
  const among = disruptable(found, before, nowNs);
  const { id: uid, name } = workload;
  const terminating = among.ending.has(uid);
  const pod = { name, namespace: '', uid, resourceVersion: '', phase: 'Running', ready: isHealthy(workload, among), terminating };
  const budgets = disruptionBudgets
    .filter((budget) => isOfBudget(budget, workload))
    .map((budget): PodBudget => {
      const { currentHealthy, desiredHealthy, disruptionsAllowed } = statusNow(budget, among);
      return {
        ...{ namespace: '', name: budget.name, matches: true, alwaysAllowsUnhealthy: budget.unhealthyPolicy === 'AlwaysAllow' },
        ...{ generation: 0n, observedGeneration: 0n, disruptedPods: 0n, condition: undefined },
        currentHealthy: BigInt(currentHealthy),
        desiredHealthy: BigInt(desiredHealthy),
        disruptionsAllowed: BigInt(disruptionsAllowed),
      };
    });
  return evictPod({ ...options, pod, urlName: name, budgets, budgetConflicts: 0, deleteConflicts: 0 }).failure;
}

/** The failure for an operator of a machine without pods: the rest of a sentence about the workload. */
export function failureText({ code, message, causes }: Pick<EvictionFailure, 'code' | 'message' | 'causes'>): string {
  if (code === 500) return 'it has two disruption budgets, and a workload may have one';
  return (causes?.[0]?.message ?? message).replace(/^The /, 'the ').replace('healthy pods', 'healthy workloads');
}

/** Taints do not respect budgets, as in Kubernetes. A preemption has asked them when it chose its victims. */
export function asksBudgets({ reason }: DisruptionCause): boolean {
  return reason === 'eviction' || reason === 'drain';
}

/** Remembers how many workloads there were before these evictions. */
export function withDisrupted(context: BudgetContext, before: Disrupted, effects: readonly Effect[]): DisruptedBudgets {
  const {
    policy: { disruptionBudgets = [], dryRun },
    found,
    nowNs,
  } = context;
  const victims = effects.flatMap((effect) =>
    effect.kind === 'evict' && effect.decision.cause.kind === 'disruption' && effect.decision.cause.reason !== 'taint'
      ? [effect.decision.victim.workload]
      : [],
  );
  const own = dryRun ? [] : disruptionBudgets.filter((budget) => victims.some((victim) => isOfBudget(budget, victim)));
  if (own.length === 0) return before.disruptedBudgets;
  const among = disruptable(found, before, nowNs);
  return new Map([
    ...before.disruptedBudgets,
    ...own.map((budget) => [budget.name, { expected: statusNow(budget, among).expected, atNs: nowNs }] as const),
  ]);
}
