// Which pods on a node a pod without a place may displace (plugins/defaultpreemption, framework/preemption, v1.36.2).
import { integerOf, items, member, members, textOf, timeOf, type Field } from '../../../../src/kubernetes/document.js';
import type { HostPort } from '../host-ports.js';
import { labelSelectorAt, selects, type LabelSelector } from '../label-selector.js';
import type { Rejection } from './node-filters.js';
import { filterOf, type Placement, type SchedulingInput } from './scheduling.js';
import { withPods, type ScheduledPod, type SchedulerNode } from './snapshot.js';

export interface PreemptionBudget {
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Pods whose eviction the budget has seen. */
  readonly disruptedPods: ReadonlySet<string>;
}

export interface PreemptionCandidate {
  readonly node: string;
  /** The most important first. */
  readonly victims: readonly ScheduledPod[];
  readonly numPDBViolations: number;
}

export function budgetsAt(input: Field): readonly PreemptionBudget[] {
  return items(member(input, 'podDisruptionBudgets')).map((budget) => {
    const status = member(budget, 'status');
    return {
      namespace: textOf(member(member(budget, 'metadata'), 'namespace')),
      selector: labelSelectorAt(member(member(budget, 'spec'), 'selector')),
      disruptionsAllowed: Number(integerOf(member(status, 'disruptionsAllowed'), 'int32') ?? 0n),
      disruptedPods: new Set(members(member(status, 'disruptedPods')).map(([name]) => name)),
    };
  });
}

/** Why the pod may not preempt others; undefined: it may. */
export function notEligible({ pod, snapshot }: SchedulingInput, rejected: Placement['rejected']): string | undefined {
  if (textOf(member(pod.spec, 'preemptionPolicy')) === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = textOf(member(member(pod.document, 'status'), 'nominatedNodeName'));
  if (nominated === '' || rejected.get(nominated)?.code === 'UnschedulableAndUnresolvable') return undefined;
  const victims = snapshot.nodes.find(({ name }) => name === nominated)?.pods ?? [];
  return victims.some((victim) => victim.priority < pod.priority && endsByPreemption(victim))
    ? 'not eligible due to a terminating pod on the nominated node.'
    : undefined;
}

function endsByPreemption({ terminating, document }: ScheduledPod): boolean {
  const conditions = items(member(member(document, 'status'), 'conditions'));
  return (
    terminating &&
    conditions.some(
      (condition) =>
        textOf(member(condition, 'type')) === 'DisruptionTarget' &&
        textOf(member(condition, 'status')) === 'True' &&
        textOf(member(condition, 'reason')) === 'PreemptionByScheduler',
    )
  );
}

/** Nodes that are rejected, but not for good. */
export function potentialNodes(nodes: readonly SchedulerNode[], rejected: ReadonlyMap<string, Rejection>): readonly SchedulerNode[] {
  return nodes.filter(({ name }) => rejected.get(name)?.code === 'Unschedulable');
}

/**
 * The victims on one node: all less important pods, without those that may stay. Those whose end would violate a budget
 * are spared first, then the more important ones. undefined: the pod does not fit even without all of them.
 */
export function candidateOn(
  node: SchedulerNode,
  input: SchedulingInput,
  budgets: readonly PreemptionBudget[],
): PreemptionCandidate | undefined {
  const possible = node.pods.filter(({ priority }) => priority < input.pod.priority).sort(byImportance);
  let staying = possible.reduce(withoutPod, node);
  if (possible.length === 0 || !fits(staying, input)) return undefined;
  const violating = violatingPods(possible, budgets);
  const victims: ScheduledPod[] = [];
  for (const pod of [...violating, ...possible.filter((other) => !violating.includes(other))]) {
    const added = withPods(staying, [...staying.pods, pod], [...staying.usedPorts, ...pod.hostPorts]);
    if (fits(added, input)) {
      staying = added;
    } else {
      staying = withoutPod(added, pod);
      victims.push(pod);
    }
  }
  if (victims.length === 0) return undefined;
  return {
    node: node.name,
    victims: victims.sort(byImportance),
    numPDBViolations: victims.filter((pod) => violating.includes(pod)).length,
  };
}

/** As in the scheduler a port is free once one of the pods that use it is gone. */
function withoutPod(node: SchedulerNode, pod: ScheduledPod): SchedulerNode {
  const isSame = (one: HostPort, other: HostPort): boolean =>
    one.address === other.address && one.protocol === other.protocol && one.port === other.port;
  return withPods(
    node,
    node.pods.filter((other) => other !== pod),
    node.usedPorts.filter((port) => !pod.hostPorts.some((freed) => isSame(freed, port))),
  );
}

/** Whether the pod fits on this node, in the cluster with this node changed. */
function fits(node: SchedulerNode, input: SchedulingInput): boolean {
  const nodes = input.snapshot.nodes.map((other) => (other.name === node.name ? node : other));
  return filterOf({ ...input, snapshot: { ...input.snapshot, nodes } })(node) === undefined;
}

/** Pods that end beyond what the budgets allow, the most important counted first. */
function violatingPods(pods: readonly ScheduledPod[], budgets: readonly PreemptionBudget[]): readonly ScheduledPod[] {
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
function byImportance(one: ScheduledPod, other: ScheduledPod): number {
  if (one.priority !== other.priority) return one.priority > other.priority ? -1 : 1;
  const [first, second] = [startOf(one), startOf(other)];
  return first === second ? 0 : first < second ? -1 : 1;
}

/** A pod that has not started counts as starting now. */
const NOW = 2n ** 63n;

function startOf({ document }: ScheduledPod): bigint {
  return timeOf(member(member(document, 'status'), 'startTime')) ?? NOW;
}

/** Makes each sum of priorities positive, so that fewer victims are better. */
const PER_VICTIM = 2n ** 31n;

/** Each is better if it is smaller; the next one decides between equal nodes. */
const CRITERIA: readonly ((candidate: PreemptionCandidate) => bigint)[] = [
  ({ numPDBViolations }) => BigInt(numPDBViolations),
  ({ victims: [first] }) => first?.priority ?? 0n,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + PER_VICTIM, 0n),
  ({ victims }) => BigInt(victims.length),
  ({ victims }) => -earliestStart(victims),
];

/** Of the victims with the highest priority. */
function earliestStart(victims: readonly ScheduledPod[]): bigint {
  const highest = victims.reduce((most, { priority }) => (priority > most ? priority : most), victims[0]?.priority ?? 0n);
  return victims.filter(({ priority }) => priority === highest).reduce((least, pod) => (startOf(pod) < least ? startOf(pod) : least), NOW);
}

/** Several only if nothing tells them apart. */
export function bestCandidates(candidates: readonly PreemptionCandidate[]): readonly PreemptionCandidate[] {
  return CRITERIA.reduce((left, criterion) => {
    const values = left.map(criterion);
    const least = values.reduce((min, value) => (value < min ? value : min), values[0] ?? 0n);
    return left.filter((_candidate, index) => values[index] === least);
  }, candidates);
}
