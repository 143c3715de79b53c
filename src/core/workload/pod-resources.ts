import { addQuantities, aggregateContainers } from '../quantity/resource-list.js';
import type { Resources } from './qos.js';
import type { Quantity } from '../quantity/quantity.js';
import type { Container, Requests, ResourceList } from './workload.js';

export interface PodResources {
  readonly containers: readonly Container[];
  /** spec.resources; undefined: not set. */
  readonly podLevel: Resources | undefined;
  /** spec.overhead: what the sandbox needs besides the containers. */
  readonly overhead: ResourceList;
}

/** spec.resources supports cpu, memory and huge pages, and ignores the rest. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Reports whether a list of spec.resources counts. */
export function isPodLevelSet(list: ResourceList): boolean {
  return [...list.keys()].some(isPodLevelResource);
}

/**
 * The requests that the ranking subtracts from usage (kubelet: GetResourceRequestQuantity, v1.36.2). If spec.resources
 * is set, containers do not count, even for resources that it does not mention. The overhead is added to requests that
 * are not zero.
 *
 * @returns by resource, in units × 10⁻⁹
 */
export function resourceRequests({ containers, podLevel, overhead }: PodResources): (name: string) => bigint {
  const isSet = podLevel !== undefined && (isPodLevelSet(podLevel.requests) || isPodLevelSet(podLevel.limits));
  const requests = isSet ? onlyPodLevel(podLevel.requests) : aggregateContainers(containers, (container) => container.requests);
  return (name) => {
    const nano = requests.get(name)?.nano ?? 0n;
    return nano === 0n ? 0n : nano + (overhead.get(name)?.nano ?? 0n);
  };
}

export function rankedRequests(resources: PodResources): Requests {
  const nanoOf = resourceRequests(resources);
  return { memory: nanoOf('memory'), ephemeralStorage: nanoOf('ephemeral-storage'), inodes: nanoOf('inodes') };
}

/**
 * The pod's limits (component-helpers/resource/helpers.go, v1.36.2, PodLimits). The overhead is added to limits that
 * are not zero.
 */
export function podLimits({ containers, podLevel, overhead }: PodResources): ResourceList {
  const limits = new Map(aggregateContainers(containers, (container) => container.limits));
  for (const [name, quantity] of onlyPodLevel(podLevel?.limits ?? new Map<string, Quantity>())) limits.set(name, quantity);
  for (const [name, quantity] of overhead) {
    const limit = limits.get(name);
    if (limit !== undefined && limit.nano !== 0n) limits.set(name, addQuantities(limit, quantity));
  }
  return limits;
}

function onlyPodLevel(list: ResourceList): ResourceList {
  return new Map([...list].filter(([name]) => isPodLevelResource(name)));
}
