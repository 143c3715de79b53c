// The kubelet's check of a pod before it runs it (pkg/kubelet/lifecycle/predicate.go, v1.36.2), on a node with Linux.
import { member, textOf, type Field } from '../../../src/kubernetes/document.js';
import { workloadAt } from '../../../src/kubernetes/pod.js';
import { integerOf, resourceListOf } from '../../../src/kubernetes/document.js';
import { resourceRequests } from '../../../src/core/workload/pod-resources.js';
import type { MissingResource } from '../../../src/core/disruption/preemption-victims.js';
import { podsToPreempt, PreemptionError, type PreemptionPod } from './critical-preemption.js';
import { conflicts } from '../../../src/core/scheduling/host-port.js';
import { matchesRequiredNodeAffinity } from '../../../src/core/scheduling/node-affinity.js';
import {
  amountsOf,
  insufficientResources,
  isExtendedResource,
  orderedRequests,
  type Amounts,
  type InsufficientResource,
} from '../../../src/core/scheduling/node-fit.js';
import { bookedResources, ceilDivide } from '../../../src/core/scheduling/pod-requests.js';
import { labelsAt, requiredNodeAffinityAt } from '../../../src/kubernetes/scheduling/label-selector.js';
import { podAmountsAt } from '../../../src/kubernetes/scheduling/pod-amounts.js';
import { hostPortsAt } from '../../../src/kubernetes/scheduling/scheduler-pod.js';
import type { Toleration } from '../../../src/core/disruption/toleration.js';
import { findMatchingUntoleratedTaint } from './taint.js';
import type { Taint } from '../../../src/core/disruption/taint.js';

const OS_LABEL = 'kubernetes.io/os';
const OS = 'linux';

export interface PodAdmission {
  readonly admit: boolean;
  readonly reason: string;
  readonly message: string;
  /** In order. */
  readonly victims: readonly string[];
}

export type FailedPredicate = { readonly predicate: string; readonly reason: string } | InsufficientResource;

/** Gives the pod the resources that it lacks, if nothing else is in the way and it is critical. */
export function handleAdmissionFailure(
  pod: PreemptionPod,
  pods: readonly PreemptionPod[],
  failures: readonly FailedPredicate[],
): { readonly failures: readonly FailedPredicate[]; readonly victims: readonly PreemptionPod[] } {
  if (!pod.critical) return { failures, victims: [] };
  const others = failures.filter((failure) => 'predicate' in failure);
  if (others.length > 0) return { failures: others, victims: [] };
  const missing = failures.flatMap((failure): readonly MissingResource[] =>
    'predicate' in failure ? [] : [{ resource: failure.resource, amount: failure.requested - (failure.capacity - failure.used) }],
  );
  try {
    return { failures: [], victims: podsToPreempt(pod, pods, missing) };
  } catch (cause) {
    if (!(cause instanceof PreemptionError)) throw cause;
    throw new PreemptionError(`preemption: error finding a set of pods to preempt: ${cause.message}`, { cause });
  }
}

export interface KubeletNode {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly allocatable: Amounts;
  readonly taints: readonly Taint[];
}

export interface AdmissionInput {
  readonly node: KubeletNode;
  readonly pod: Field;
  readonly tolerations: readonly Toleration[];
  readonly pods: readonly Field[];
}

export function admitPod(input: AdmissionInput): PodAdmission {
  const { pod } = input;
  const wantedOs = labelsAt(member(member(pod, 'metadata'), 'labels')).get(OS_LABEL);
  const refused = (reason: string, message: string): PodAdmission => ({ admit: false, reason, message, victims: [] });
  if (wantedOs !== undefined && wantedOs !== OS)
    return refused('PodOSSelectorNodeLabelDoesNotMatch', "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label");
  const os = textOf(member(member(member(pod, 'spec'), 'os'), 'name'));
  if (os !== '' && os !== OS) return refused('PodOSNotSupported', "Failed to admit pod as the OS field doesn't match node OS");
  const failures = failedPredicates(input);
  if (failures.length === 0) return { admit: true, reason: '', message: '', victims: [] };
  try {
    const left = handleAdmissionFailure(preemptionPodAt(pod), input.pods.map(preemptionPodAt), failures);
    const [first] = left.failures;
    if (first === undefined) return { admit: true, reason: '', message: '', victims: left.victims.map(({ name }) => name) };
    return refused(...reasonOf(first));
  } catch (cause) {
    if (!(cause instanceof PreemptionError)) throw cause;
    return refused('UnexpectedAdmissionError', `Unexpected error while attempting to recover from admission failure: ${cause.message}`);
  }
}

function reasonOf(failure: FailedPredicate): [reason: string, message: string] {
  if ('predicate' in failure) return [failure.predicate, `Predicate ${failure.predicate} failed: ${failure.reason}`];
  const { resource, requested, used, capacity } = failure;
  return [
    `OutOf${resource}`,
    `Node didn't have enough resource: ${resource}, requested: ${String(requested)}, used: ${String(used)}, capacity: ${String(capacity)}`,
  ];
}

function failedPredicates({ node, pod, tolerations, pods }: AdmissionInput): readonly FailedPredicate[] {
  const spec = member(pod, 'spec');
  const used = pods.map((other) => amountsOf(bookedResources(podAmountsAt(other)).requests)).reduce(addAmounts, new Map());
  const ports = hostPortsAt(spec);
  const usedPorts = pods.flatMap((other) => hostPortsAt(member(other, 'spec')));
  const nodeName = textOf(member(spec, 'nodeName'));
  const untolerated = findMatchingUntoleratedTaint(node.taints, tolerations, ['NoExecute'], 'off');
  const failed = (is: boolean, predicate: string, reason: string): readonly FailedPredicate[] => (is ? [{ predicate, reason }] : []);
  return [
    ...insufficientResources(orderedRequests(requestsOnNode(pod, node)), { allocatable: node.allocatable, used, pods: pods.length }),
    ...failed(
      !matchesRequiredNodeAffinity(requiredNodeAffinityAt(spec), node),
      'NodeAffinity',
      "node(s) didn't match Pod's node affinity/selector",
    ),
    ...failed(nodeName !== '' && nodeName !== node.name, 'NodeName', "node(s) didn't match the requested node name"),
    ...failed(
      ports.some((port) => usedPorts.some((other) => conflicts(port, other))),
      'NodePorts',
      "node(s) didn't have free ports for the requested pod ports",
    ),
    ...failed(untolerated !== undefined && !isStatic(pod), 'TaintToleration', "node(s) had taints that the pod didn't tolerate"),
  ];
}

/** Extended resources that the node does not have are those of the cluster, and left out. */
function requestsOnNode(pod: Field, node: KubeletNode): Amounts {
  const requests = amountsOf(bookedResources(podAmountsAt(pod)).requests);
  return new Map([...requests].filter(([name]) => !isExtendedResource(name) || node.allocatable.has(name)));
}

/** kubelet: IsStaticPod: it does not come from the API server. */
function isStatic(pod: Field): boolean {
  const source = labelsAt(member(member(pod, 'metadata'), 'annotations')).get('kubernetes.io/config.source');
  return source !== undefined && source !== 'api';
}

export function preemptionPodAt(pod: Field): PreemptionPod {
  const { name, qosClass, protection } = workloadAt(pod);
  const priority = integerOf(member(member(pod, 'spec'), 'priority'), 'int32');
  const nanoOf = resourceRequests(podAmountsAt(pod));
  return {
    name,
    qosClass,
    priority: priority === undefined ? undefined : Number(priority),
    critical: protection?.kind === 'critical' || protection?.kind === 'static',
    request: (resource) => (resource === 'pods' ? 1n : ceilDivide(nanoOf(resource), resource === 'cpu' ? 1_000_000n : 1_000_000_000n)),
  };
}

export function kubeletNodeAt(node: Field, taints: readonly Taint[]): KubeletNode {
  return {
    name: textOf(member(member(node, 'metadata'), 'name')),
    labels: labelsAt(member(member(node, 'metadata'), 'labels')),
    allocatable: amountsOf(resourceListOf(member(member(node, 'status'), 'allocatable'))),
    taints,
  };
}

function addAmounts(one: Amounts, other: Amounts): Amounts {
  const sum = new Map(one);
  for (const [name, amount] of other) sum.set(name, (sum.get(name) ?? 0n) + amount);
  return sum;
}
