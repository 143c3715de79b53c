// What a pod asks for (component-helpers/resource, PodRequests and PodLimits; the scheduler's CalculateResource; v1.36.2).
import { addResourceLists, aggregateContainers, maxResourceLists } from '../quantity/resource-list.js';
import { parseQuantity, type Quantity } from '../quantity/quantity.js';
import { isPodLevelResource, isPodLevelSet, type PodResources } from '../workload/pod-resources.js';
import type { Container, ResourceList } from '../workload/workload.js';

/** What the kubelet says about one container, or the pod. */
export interface ReportedResources {
  readonly allocated: ResourceList;
  readonly actual: ResourceList;
}

/** What a pod asks for, and what it has. */
export interface PodAmounts extends PodResources {
  /** The reported resources of containers, by name. */
  readonly statuses: ReadonlyMap<string, ReportedResources>;
  /** The reported resources of the pod as a whole; undefined: not reported. */
  readonly podStatus: ReportedResources | undefined;
  /** The node can never carry out the resize that the spec asks for: the spec does not count. */
  readonly resizeInfeasible: boolean;
}

/** What a container without a request counts where zero would hide it. */
export const DEFAULT_REQUESTS: ResourceList = new Map([
  ['cpu', parseQuantity('100m')],
  ['memory', parseQuantity('200Mi')],
]);

export interface RequestOptions {
  /** Whether the status counts: during a resize the largest of spec, allocated and actual amounts. */
  readonly withStatus?: boolean;
  readonly withoutOverhead?: boolean;
  readonly containersOnly?: boolean;
  /** Amounts for containers that do not request these resources. */
  readonly missing?: ResourceList;
}

export function podRequests(pod: PodAmounts, { withStatus, withoutOverhead, containersOnly, missing }: RequestOptions = {}): ResourceList {
  const effective = (requests: ResourceList, reported: ReportedResources | undefined): ResourceList => {
    if (withStatus !== true || reported === undefined) return requests;
    const least = maxResourceLists(reported.actual, reported.allocated);
    return pod.resizeInfeasible ? least : maxResourceLists(requests, least);
  };
  // An init container that ends cannot be resized.
  const listOf = ({ name, kind, requests }: Container): ResourceList =>
    effective(requests, kind === 'init' ? undefined : pod.statuses.get(name));
  const ofContainers = aggregateContainers(pod.containers, (container) => new Map([...(missing ?? []), ...listOf(container)]));
  const podLevel = containersOnly === true ? new Map<string, Quantity>() : (pod.podLevel?.requests ?? new Map<string, Quantity>());
  const ofPod = effective(podLevel, pod.podStatus);
  const named = [...ofPod].filter(([name]) => podLevel.has(name) && isPodLevelResource(name));
  const requests = new Map([...ofContainers, ...named]);
  return withoutOverhead === true ? requests : addResourceLists(requests, pod.overhead);
}

/** What the score of free resources counts: it knows neither of pod-level resources nor of a resize. */
export function scoredRequests(pod: PodAmounts): ResourceList {
  return podRequests(pod, { containersOnly: true, missing: DEFAULT_REQUESTS });
}

export interface BookedResources {
  readonly requests: ResourceList;
  /** Requests for scores, which zero would mislead. */
  readonly nonZero: ResourceList;
}

/** What the scheduler books on the node. */
export function bookedResources(pod: PodAmounts): BookedResources {
  const requests = podRequests(pod, { withStatus: true });
  const isPodLevel = pod.podLevel !== undefined && isPodLevelSet(pod.podLevel.requests);
  const missing = isPodLevel ? new Map([...DEFAULT_REQUESTS].filter(([name]) => !requests.has(name))) : DEFAULT_REQUESTS;
  return { requests, nonZero: podRequests(pod, { withStatus: true, missing }) };
}

/** cpu in millicores, all else in whole units; rounded up. */
export function amountOf(name: string, quantity: Quantity): bigint {
  return ceilDivide(quantity.nano, name === 'cpu' ? 1_000_000n : 1_000_000_000n);
}

export function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor > 0n ? quotient + 1n : quotient;
}
