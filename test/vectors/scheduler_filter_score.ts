import { byQueueOrder, schedulingGateReason } from '../../src/core/scheduling/scheduling-queue.js';
import { bestNodes, filterNodes, noNodeMessage, numFeasibleNodesToFind, scoreNodes } from '../../src/core/scheduling/placement.js';
import { totalScore } from '../../src/core/scheduling/scores/node-scores.js';
import { integerOf, isAbsent, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { schedulerPodAt } from '../../src/kubernetes/scheduling/scheduler-pod.js';
import { placementAt } from './cluster/scheduling-input.js';
import { checkKinds } from './kind.js';

export const checkSchedulerFilterScore = checkKinds({
  filterScore,
  preEnqueue: (input) => {
    const reason = schedulingGateReason(schedulerPodAt(member(input, 'pod')));
    if (reason === undefined) return { gated: false };
    return { gated: true, plugin: 'SchedulingGates', code: 'UnschedulableAndUnresolvable', reasons: [reason] };
  },
  numFeasibleNodes: (input) => {
    const profile = isAbsent(member(input, 'profilePercentageOfNodesToScore'));
    const percentage = numberAt(input, profile ? 'percentageOfNodesToScore' : 'profilePercentageOfNodesToScore');
    return { numFeasibleNodesToFind: numFeasibleNodesToFind(numberAt(input, 'numNodes'), percentage) };
  },
  queueSort: (input) => {
    const pods = items(member(input, 'pods')).map((pod) => ({
      name: textOf(member(pod, 'name')),
      priority: numberAt(pod, 'priority'),
      queuedNs: BigInt(numberAt(pod, 'queuedAtMs')) * 1_000_000n,
    }));
    return { order: pods.sort(byQueueOrder).map(({ name }) => name) };
  },
});

function numberAt(field: Field, name: string): number {
  return Number(integerOf(member(field, name), 'int64') ?? 0n);
}

function filterScore(field: Field): unknown {
  const placement = placementAt(field);
  const filtered = filterNodes(placement);
  const { feasible, rejected, preFilter } = filtered;
  const common = {
    feasible: feasible.map(({ node }) => node.name).sort(),
    rejected: Object.fromEntries(rejected),
    ...(preFilter === undefined ? {} : { preFilter }),
  };
  if (feasible.length === 0) return { ...common, message: noNodeMessage(filtered, placement.input.cluster.nodes.length) };
  const scores = scoreNodes(placement, feasible);
  return {
    ...common,
    scores: Object.fromEntries([...scores].map(([name, of]) => [name, { ...Object.fromEntries(of), total: totalScore(of) }])),
    best: [...bestNodes(scores)].sort(),
  };
}
