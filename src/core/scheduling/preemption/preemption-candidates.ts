// Which pods on a node a pod without a place may displace (plugins/defaultpreemption, framework/preemption, v1.36.2).
import type { Rejection } from '../filters/pod-filter.js';
import { selects } from '../label-selector.js';
import type { NodeState } from '../cluster/node-state.js';
import { availabilityMessage, type Filtered, type Placement } from '../placement.js';
import type { PodDisruptionBudget, SchedulerPod } from '../scheduler-pod.js';

export interface PreemptionCandidate {
  readonly node: string;
  /** The most important first. */
  readonly victims: readonly SchedulerPod[];
  /** How many victims end beyond what their budgets allow. */
  readonly numPDBViolations: number;
}

/** Why the pod may not preempt others; undefined: it may. */
export function notEligible(
  { input: { pod, cluster } }: Placement,
  { rejected, preFilter }: Pick<Filtered, 'rejected' | 'preFilter'>,
): string | undefined {
  if (pod.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = cluster.nominationOf(pod) ?? pod.nominatedNodeName;
  if ((preFilter ?? rejected.get(nominated))?.code === 'UnschedulableAndUnresolvable') return undefined;
  for (const victim of cluster.node(nominated)?.pods ?? []) {
    if (victim.priority < pod.priority && victim.preempted) return 'not eligible due to a terminating pod on the nominated node.';
  }
  return undefined;
}

/** Nodes that are rejected, but not for good. */
export function potentialNodes({ input: { cluster } }: Placement, rejected: Filtered['rejected']): readonly NodeState[] {
  return cluster.nodes.filter(({ node }) => rejected.get(node.name)?.code === 'Unschedulable');
}

/** What was found on the nodes that were looked at. */
export interface CandidateSearch {
  readonly candidates: readonly PreemptionCandidate[];
  /** Why a node is not a candidate, per node. */
  readonly reasons: readonly (readonly string[])[];
}

/**
 * Looks at potential nodes, from a random one on, until there are enough candidates and one of them violates no budget.
 *
 * @param random  a whole number from 0 to below its bound
 */
export function findCandidates(
  placement: Placement,
  rejected: Filtered['rejected'],
  budgets: readonly PodDisruptionBudget[],
  random: (bound: number) => number,
): CandidateSearch {
  const potential = potentialNodes(placement, rejected);
  const { percentage, absolute } = placement.input.profile.minCandidateNodes;
  const enough = Math.max(Math.trunc((potential.length * percentage) / 100), absolute);
  const offset = random(potential.length);
  const candidates: PreemptionCandidate[] = [];
  const reasons: (readonly string[])[] = [];
  let isFree = false;
  for (const state of [...potential.slice(offset), ...potential.slice(0, offset)]) {
    if (isFree && candidates.length >= enough) break;
    const found = candidateOn(state, placement, budgets);
    if ('reasons' in found) {
      reasons.push(found.reasons);
    } else {
      candidates.push(found);
      isFree ||= found.numPDBViolations === 0;
    }
  }
  return { candidates, reasons };
}

/** Why preemption does not help. */
export function noCandidateMessage(reasons: CandidateSearch['reasons'], nodes: number): string {
  const others = Array.from({ length: nodes - reasons.length }, () => ['Preemption is not helpful for scheduling']);
  return availabilityMessage([...reasons, ...others], nodes);
}

const NO_VICTIMS = { reasons: ['No preemption victims found for incoming pod'] } as const;

/**
 * The victims on one node: all less important pods, without those that may stay. Those whose end would violate a budget
 * are spared first, then the more important ones. `reasons`: the pod does not fit even without all of them.
 */
export function candidateOn(
  state: NodeState,
  placement: Placement,
  budgets: readonly PodDisruptionBudget[],
): PreemptionCandidate | Pick<Rejection, 'reasons'> {
  const possible = [...state.pods].filter(({ priority }) => priority < placement.input.pod.priority).sort(byImportance);
  if (possible.length === 0) return NO_VICTIMS;
  const tried = state.copy();
  const gone = new Set<SchedulerPod>();
  const move = (pod: SchedulerPod, sign: 1 | -1): void => {
    placement.move(pod, tried, sign);
    if (sign === 1) gone.delete(pod);
    else gone.add(pod);
  };
  for (const pod of possible) move(pod, -1);
  const rejection = placement.check(tried);
  const violating = new Set(rejection === undefined ? violatingPods(possible, budgets) : []);
  if (rejection === undefined) {
    for (const pod of [...violating, ...possible.filter((other) => !violating.has(other))]) {
      move(pod, 1);
      if (placement.check(tried) !== undefined) move(pod, -1);
    }
  }
  const victims = possible.filter((pod) => gone.has(pod));
  for (const pod of victims) move(pod, 1);
  if (rejection !== undefined) return rejection;
  if (victims.length === 0) return NO_VICTIMS;
  return { node: state.node.name, victims, numPDBViolations: victims.filter((pod) => violating.has(pod)).length };
}

/** Pods that end beyond what the budgets allow, the most important counted first. */
function violatingPods(pods: readonly SchedulerPod[], all: readonly PodDisruptionBudget[]): readonly SchedulerPod[] {
  const namespaces = new Set(pods.map(({ namespace }) => namespace));
  const budgets = all.filter(({ namespace }) => namespaces.has(namespace));
  const left = budgets.map(({ disruptionsAllowed }) => disruptionsAllowed);
  return pods.filter((pod) => {
    let violates = false;
    for (const [index, { namespace, selector, disruptedPods }] of budgets.entries()) {
      const isEmpty = selector === undefined || selector.requirements.length === 0;
      if (pod.labels.size === 0 || namespace !== pod.namespace || isEmpty || !selects(selector, pod.labels)) continue;
      if (disruptedPods.has(pod.name)) continue;
      const remaining = (left[index] ?? 0) - 1;
      left[index] = remaining;
      if (remaining < 0) violates = true;
    }
    return violates;
  });
}

/** Higher priority first, then the one that runs longer. */
function byImportance(one: SchedulerPod, other: SchedulerPod): number {
  if (one.priority !== other.priority) return other.priority - one.priority;
  const [first, second] = [startOf(one), startOf(other)];
  return first === second ? 0 : first < second ? -1 : 1;
}

/** A pod that has not started counts as starting now. */
const NOW = 2n ** 63n;

function startOf({ startNs }: SchedulerPod): bigint {
  return startNs ?? NOW;
}

/** Makes each sum of priorities positive, so that fewer victims are better. */
const PER_VICTIM = 2 ** 31;

/** Each is better if it is smaller; the next one decides between equal nodes. */
const CRITERIA: readonly ((candidate: PreemptionCandidate) => number | bigint)[] = [
  ({ numPDBViolations }) => numPDBViolations,
  ({ victims: [first] }) => first?.priority ?? 0,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + PER_VICTIM, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStart(victims),
];

/** The earliest start among the victims with the highest priority. */
function earliestStart(victims: readonly SchedulerPod[]): bigint {
  const highest = victims.reduce((most, { priority }) => Math.max(priority, most), -Infinity);
  return victims.filter(({ priority }) => priority === highest).reduce((least, pod) => (startOf(pod) < least ? startOf(pod) : least), NOW);
}

/** Several only if nothing tells them apart. */
export function bestCandidates(candidates: readonly PreemptionCandidate[]): readonly PreemptionCandidate[] {
  return CRITERIA.reduce((left, criterion) => {
    const values = left.map(criterion);
    const least = values.reduce((min, value) => (value < min ? value : min), values[0] ?? 0);
    return left.filter((_candidate, index) => values[index] === least);
  }, candidates);
}
