import { bestCandidates, candidateOn, notEligible, potentialNodes } from '../../src/core/scheduling/preemption/preemption-candidates.js';
import { admitPriority } from '../../src/core/scheduling/priority-admission.js';
import { filterNodes, noNodeMessage } from '../../src/core/scheduling/placement.js';
import { integerOf, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { disruptionBudgetAt, priorityClassAt } from '../../src/kubernetes/scheduling/cluster-objects.js';
import { placementAt } from './cluster/scheduling-input.js';
import { checkKinds } from './kind.js';

export const checkSchedulerPreempt = checkKinds({
  preempt,
  priorityAdmission: (input) => {
    const pod = member(input, 'pod');
    const spec = member(pod, 'spec');
    return admitPriority(
      {
        name: textOf(member(member(pod, 'metadata'), 'name')),
        priorityClassName: textOf(member(spec, 'priorityClassName')),
        priority: integerOf(member(spec, 'priority'), 'int32'),
        preemptionPolicy: textOf(member(spec, 'preemptionPolicy')),
      },
      items(member(input, 'priorityClasses')).map(priorityClassAt),
    );
  },
});

function preempt(field: Field): unknown {
  const placement = placementAt(field);
  const filtered = filterNodes(placement);
  const { rejected } = filtered;
  const common = { filter: Object.fromEntries(rejected), message: noNodeMessage(filtered, placement.input.cluster.nodes.length) };
  const reason = notEligible(placement, filtered);
  if (reason !== undefined) return { ...common, eligible: false, reason };
  const budgets = items(member(field, 'podDisruptionBudgets')).map(disruptionBudgetAt);
  const potential = potentialNodes(placement, rejected);
  const candidates = potential.flatMap((state) => {
    const found = candidateOn(state, placement, budgets);
    return 'reasons' in found ? [] : [found];
  });
  return {
    ...common,
    eligible: true,
    potentialNodes: potential.map(({ node }) => node.name).sort(),
    candidates: Object.fromEntries(
      candidates.map(({ node, victims, numPDBViolations }) => [node, { victims: victims.map(({ name }) => name), numPDBViolations }]),
    ),
    best: bestCandidates(candidates)
      .map(({ node }) => node)
      .sort(),
  };
}
