import { evictPod, type EvictionAnswer, type PodBudget } from '../drain/pod-eviction.js';
import { selects } from '../scheduling/label-selector.js';
import type { PodDisruptionBudget, SchedulerPod } from '../scheduling/scheduler-pod.js';
import type { LivePod } from './simulated-pod.js';

/** policy/v1 PodDisruptionBudget with the part of its status that an eviction reads. */
export interface SimulatedBudget extends PodDisruptionBudget {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly alwaysAllowsUnhealthy: boolean;
  readonly generation: bigint;
  readonly observedGeneration: bigint;
  readonly condition: PodBudget['condition'];
}

interface Tracked {
  readonly budget: SimulatedBudget;
  healthy: number;
  allowed: number;
}

/** The budgets of the cluster while pods end and become ready, as the disruption controller keeps them. */
export class SimulatedBudgets {
  readonly #byNamespace = new Map<string, Tracked[]>();

  constructor(budgets: readonly SimulatedBudget[]) {
    for (const budget of budgets) {
      const tracked = { budget, healthy: budget.currentHealthy, allowed: budget.disruptionsAllowed };
      const own = this.#byNamespace.get(budget.namespace);
      if (own === undefined) this.#byNamespace.set(budget.namespace, [tracked]);
      else own.push(tracked);
    }
  }

  /** A pod has become ready (1), or is not any more (-1). */
  change(pod: SchedulerPod, by: 1 | -1): void {
    for (const tracked of this.#of(pod)) {
      tracked.healthy += by;
      tracked.allowed = Math.max(0, tracked.healthy - tracked.budget.desiredHealthy);
    }
  }

  namesOf(pod: SchedulerPod): readonly string[] {
    return this.#of(pod).map(({ budget }) => budget.name);
  }

  /** The answer of the API server to an eviction of this pod now. */
  ask({ scheduling, stage, pod, hasRun }: LivePod): EvictionAnswer {
    const { name, namespace, uid } = scheduling;
    const isPending = stage === 'pending' || (stage === 'starting' && pod.phase === 'Pending' && hasRun !== true);
    return evictPod({
      pod: {
        ...{ name, namespace, uid, resourceVersion: '' },
        phase: isPending ? 'Pending' : pod.phase === 'Pending' ? 'Running' : pod.phase,
        ready: stage === 'running' && pod.ready,
        terminating: scheduling.terminating,
      },
      urlName: name,
      ...{ queryDryRun: [], optionsDryRun: [], uid: undefined, resourceVersion: undefined, budgetConflicts: 0, deleteConflicts: 0 },
      budgets: this.#of(scheduling).map(podBudget),
    });
  }

  /** The budgets with their current counts. */
  forPreemption(): readonly PodDisruptionBudget[] {
    return [...this.#byNamespace.values()].flat().map(({ budget, allowed }) => ({ ...budget, disruptionsAllowed: allowed }));
  }

  #of({ namespace, labels }: SchedulerPod): readonly Tracked[] {
    return (this.#byNamespace.get(namespace) ?? []).filter(({ budget }) => selects(budget.selector, labels));
  }
}

function podBudget({ budget, healthy, allowed }: Tracked): PodBudget {
  const { namespace, name, alwaysAllowsUnhealthy, generation, observedGeneration, desiredHealthy, condition } = budget;
  return {
    ...{ namespace, name, matches: true, alwaysAllowsUnhealthy, generation, observedGeneration, condition },
    currentHealthy: BigInt(healthy),
    desiredHealthy: BigInt(desiredHealthy),
    disruptionsAllowed: BigInt(allowed),
    disruptedPods: 0n,
  };
}
