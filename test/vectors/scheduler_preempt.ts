import { integerOf, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { admitPriority } from './cluster/priority-admission.js';
import { bestCandidates, budgetsAt, candidateOn, notEligible, potentialNodes } from './cluster/scheduler/preemption.js';
import { filterNodes, noNodeMessage, schedulingInputAt } from './cluster/scheduler/scheduling.js';
import { checkKinds } from './kind.js';

export const checkSchedulerPreempt = checkKinds({
  preempt,
  priorityAdmission: (input) => {
    const pod = member(input, 'pod');
    const spec = member(pod, 'spec');
    const classes = items(member(input, 'priorityClasses')).map((priorityClass) => ({
      name: textOf(member(member(priorityClass, 'metadata'), 'name')),
      value: integerOf(member(priorityClass, 'value'), 'int32') ?? 0n,
      globalDefault: member(priorityClass, 'globalDefault').value === true,
      preemptionPolicy: textOf(member(priorityClass, 'preemptionPolicy')),
    }));
    return admitPriority(
      {
        name: textOf(member(member(pod, 'metadata'), 'name')),
        priorityClassName: textOf(member(spec, 'priorityClassName')),
        priority: integerOf(member(spec, 'priority'), 'int32'),
        preemptionPolicy: textOf(member(spec, 'preemptionPolicy')),
      },
      classes,
    );
  },
});

function preempt(field: Field): unknown {
  const input = schedulingInputAt(field);
  const placement = filterNodes(input);
  const { nodes } = input.snapshot;
  const common = { filter: Object.fromEntries(placement.rejected), message: noNodeMessage(placement, nodes.length) };
  const reason = notEligible(input, placement.rejected);
  if (reason !== undefined) return { ...common, eligible: false, reason };
  const budgets = budgetsAt(field);
  const potential = potentialNodes(nodes, placement.rejected);
  const candidates = potential.flatMap((node) => candidateOn(node, input, budgets) ?? []);
  return {
    ...common,
    eligible: true,
    potentialNodes: potential.map(({ name }) => name).sort(),
    candidates: Object.fromEntries(
      candidates.map(({ node, victims, numPDBViolations }) => [node, { victims: victims.map(({ name }) => name), numPDBViolations }]),
    ),
    best: bestCandidates(candidates)
      .map(({ node }) => node)
      .sort(),
  };
}
