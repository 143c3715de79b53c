import { integerOf, isAbsent, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import {
  bestNodes,
  filterNodes,
  noNodeMessage,
  numFeasibleNodesToFind,
  queueOrder,
  schedulingInputAt,
  scoreNodes,
} from './cluster/scheduler/scheduling.js';
import { totalScore } from './cluster/scheduler/node-scores.js';
import { checkKinds } from './kind.js';

export const checkSchedulerFilterScore = checkKinds({
  filterScore,
  preEnqueue: (input) => {
    const gates = items(member(member(member(input, 'pod'), 'spec'), 'schedulingGates')).map((gate) => textOf(member(gate, 'name')));
    if (gates.length === 0) return { gated: false };
    const reasons = [`waiting for scheduling gates: [${gates.join(' ')}]`];
    return { gated: true, plugin: 'SchedulingGates', code: 'UnschedulableAndUnresolvable', reasons };
  },
  numFeasibleNodes: (input) => {
    const number = (name: string): bigint => integerOf(member(input, name), 'int64') ?? 0n;
    const profile = member(input, 'profilePercentageOfNodesToScore');
    const percentage = isAbsent(profile) ? number('percentageOfNodesToScore') : number('profilePercentageOfNodesToScore');
    return { numFeasibleNodesToFind: numFeasibleNodesToFind(number('numNodes'), percentage) };
  },
  queueSort: (input) => ({ order: queueOrder(items(member(input, 'pods'))) }),
});

function filterScore(field: Field): unknown {
  const input = schedulingInputAt(field);
  const placement = filterNodes(input);
  const { feasible, rejected, preFilter } = placement;
  const common = {
    feasible: feasible.map(({ name }) => name).sort(),
    rejected: Object.fromEntries(rejected),
    ...(preFilter === undefined ? {} : { preFilter }),
  };
  if (feasible.length === 0) return { ...common, message: noNodeMessage(placement, input.snapshot.nodes.length) };
  const scores = scoreNodes(input, feasible);
  return {
    ...common,
    scores: Object.fromEntries([...scores].map(([name, of]) => [name, { ...Object.fromEntries(of), total: totalScore(of) }])),
    best: [...bestNodes(scores)].sort(),
  };
}
