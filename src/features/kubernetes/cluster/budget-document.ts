import type { SimulatedBudget } from '../../../core/simulation/simulated-budgets.js';
import { integerOf, items, member, textOf, type Field } from '../../../kubernetes/document.js';
import { disruptionBudgetAt } from '../../../kubernetes/scheduling/cluster-objects.js';

/** policy/v1 PodDisruptionBudget. */
export function simulatedBudgetAt(budget: Field): SimulatedBudget {
  const [metadata, spec, status] = [member(budget, 'metadata'), member(budget, 'spec'), member(budget, 'status')];
  const count = (name: string): number => Number(integerOf(member(status, name), 'int32') ?? 0n);
  const allowed = items(member(status, 'conditions')).find((condition) => textOf(member(condition, 'type')) === 'DisruptionAllowed');
  const text = (name: string): string => (allowed === undefined ? '' : textOf(member(allowed, name)));
  return {
    ...disruptionBudgetAt(budget),
    currentHealthy: count('currentHealthy'),
    desiredHealthy: count('desiredHealthy'),
    alwaysAllowsUnhealthy: textOf(member(spec, 'unhealthyPodEvictionPolicy')) === 'AlwaysAllow',
    generation: integerOf(member(metadata, 'generation'), 'int64') ?? 0n,
    observedGeneration: integerOf(member(status, 'observedGeneration'), 'int64') ?? 0n,
    condition: allowed && { status: text('status'), reason: text('reason'), message: text('message') },
  };
}
