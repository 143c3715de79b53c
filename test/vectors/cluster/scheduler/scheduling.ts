// Where a pod may run and where it runs best (pkg/scheduler, schedule_one.go, v1.36.2).
import { integerOf, isAbsent, items, member, textOf, type Field } from '../../../../src/kubernetes/document.js';
import { defaultSelector } from './default-selector.js';
import { nodeFilter, type Rejection } from './node-filters.js';
import { nodeScores, totalScore, type NodeScores } from './node-scores.js';
import { profileAt, type SchedulerProfile } from './profile.js';
import { scheduledPodAt, snapshotAt, type ScheduledPod, type SchedulerNode, type Snapshot } from './snapshot.js';
import { spreadConstraintsAt, type SpreadConstraint } from './spread-constraint.js';

export interface SchedulingInput {
  readonly pod: ScheduledPod;
  readonly snapshot: Snapshot;
  readonly profile: SchedulerProfile;
  readonly constraints: readonly SpreadConstraint[];
  /** The pod has constraints of its own, or those of the profile are not the system's. */
  readonly requiresAll: boolean;
}

export function schedulingInputAt(input: Field): SchedulingInput {
  const pod = scheduledPodAt(member(input, 'pod'));
  const profile = profileAt(input);
  const own = spreadConstraintsAt(member(pod.spec, 'topologySpreadConstraints'), pod.labels);
  return {
    pod,
    snapshot: snapshotAt(input),
    profile,
    constraints: own.length > 0 ? own : defaultConstraints(pod, profile, input),
    requiresAll: own.length > 0 || !profile.systemDefaulted,
  };
}

/** Only for pods that a service or an owner selects. */
function defaultConstraints(pod: ScheduledPod, profile: SchedulerProfile, input: Field): readonly SpreadConstraint[] {
  const selector = defaultSelector(pod, input);
  return selector === undefined ? [] : profile.defaultConstraints.map((constraint) => ({ ...constraint, selector }));
}

export interface Placement {
  readonly feasible: readonly SchedulerNode[];
  readonly rejected: ReadonlyMap<string, Rejection>;
  /** The pod was refused before a node was looked at. */
  readonly preFilter: Rejection | undefined;
}

export function filterNodes(input: SchedulingInput): Placement {
  const { pod, snapshot } = input;
  const named = namedNodes(pod);
  if (named?.size === 0) {
    const preFilter: Rejection = { plugin: 'NodeAffinity', code: 'UnschedulableAndUnresolvable', reasons: ['pod affinity terms conflict'] };
    return { feasible: [], rejected: new Map(), preFilter };
  }
  const filter = filterOf(input);
  const rejected = new Map<string, Rejection>();
  const feasible = snapshot.nodes.filter((node) => {
    const rejection = named !== undefined && !named.has(node.name) ? NOT_NAMED : filter(node);
    if (rejection !== undefined) rejected.set(node.name, rejection);
    return rejection === undefined;
  });
  return { feasible, rejected, preFilter: undefined };
}

/** The filters of this pod over this snapshot. */
export function filterOf(input: SchedulingInput): (node: SchedulerNode) => Rejection | undefined {
  const hard = input.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
  return nodeFilter({ ...input, constraints: hard });
}

const NOT_NAMED: Rejection = {
  plugin: '',
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
};

/** The only nodes that the pod names; undefined: it names none. */
function namedNodes({ spec }: ScheduledPod): ReadonlySet<string> | undefined {
  const required = member(member(member(spec, 'affinity'), 'nodeAffinity'), 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = isAbsent(required) ? [] : items(member(required, 'nodeSelectorTerms'));
  const named = new Set<string>();
  for (const term of terms) {
    const lists = items(member(term, 'matchFields'))
      .filter((field) => textOf(member(field, 'key')) === 'metadata.name' && textOf(member(field, 'operator')) === 'In')
      .map((field) => items(member(field, 'values')).map(textOf));
    const [first, ...more] = lists;
    if (first === undefined) return undefined;
    for (const name of first) if (more.every((list) => list.includes(name))) named.add(name);
  }
  return terms.length === 0 ? undefined : named;
}

export function scoreNodes(input: SchedulingInput, feasible: readonly SchedulerNode[]): ReadonlyMap<string, NodeScores> {
  const soft = input.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway');
  const scores = nodeScores({ ...input, feasible, constraints: soft });
  return new Map(feasible.map(({ name }, index) => [name, scores[index] ?? new Map<string, number>()]));
}

export function bestNodes(scores: ReadonlyMap<string, NodeScores>): readonly string[] {
  const totals = [...scores].map(([name, of]) => [name, totalScore(of)] as const);
  const most = Math.max(...totals.map(([, total]) => total));
  return totals.filter(([, total]) => total === most).map(([name]) => name);
}

/** The text that users see when no node is left. */
export function noNodeMessage({ rejected, preFilter }: Placement, nodes: number): string {
  const start = `0/${String(nodes)} nodes are available:`;
  if (preFilter !== undefined) return `${start} ${preFilter.reasons.join(', ')}.`;
  const counts = new Map<string, number>();
  for (const { reasons } of rejected.values()) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const list = [...counts].map(([reason, count]) => `${String(count)} ${reason}`).sort();
  return list.length === 0 ? start : `${start} ${list.join(', ')}.`;
}

const LEAST_NODES = 100n;

/** How many feasible nodes end the search. */
export function numFeasibleNodesToFind(nodes: bigint, percentageOfNodesToScore: bigint): bigint {
  if (nodes < LEAST_NODES) return nodes;
  const adaptive = 50n - nodes / 125n;
  const percentage = percentageOfNodesToScore === 0n ? (adaptive < 5n ? 5n : adaptive) : percentageOfNodesToScore;
  const found = (nodes * percentage) / 100n;
  return found < LEAST_NODES ? LEAST_NODES : found;
}

/** Higher priority first, then the one that has waited longer. */
export function queueOrder(pods: readonly Field[]): readonly string[] {
  const number = (pod: Field, name: string): number => Number(integerOf(member(pod, name), 'int64') ?? 0n);
  return [...pods]
    .sort((one, other) => number(other, 'priority') - number(one, 'priority') || number(one, 'queuedAtMs') - number(other, 'queuedAtMs'))
    .map((pod) => textOf(member(pod, 'name')));
}
