// Whether a pod's requests fit on a node (pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.2).
import { labelKeyErrors } from '../name/label.js';
import type { ResourceList } from '../workload/workload.js';
import { amountOf } from './pod-requests.js';

/** cpu in millicores, all else in whole units. */
export type Amounts = ReadonlyMap<string, bigint>;

export interface InsufficientResource {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** Whether a device plugin or an operator defines the resource. A quota must be able to name it (v1helper.IsExtendedResourceName). */
export function isExtendedResource(name: string): boolean {
  return /^(?!requests\.|.*kubernetes\.io\/).*\//.test(name) && labelKeyErrors(`requests.${name}`).length === 0;
}

const FIRST = ['cpu', 'memory', 'ephemeral-storage'];
const PLAIN: ReadonlySet<string> = new Set([...FIRST, 'pods']);

/** The scheduler has no place for other resources, such as `foo` or `storage` (framework.Resource, IsScalarResourceName). */
function isCounted(name: string): boolean {
  return PLAIN.has(name) || /^hugepages-|^attachable-volumes-|kubernetes\.io\//.test(name) || isExtendedResource(name);
}

/** The amounts of the resources that the scheduler counts. */
export function amountsOf(list: ResourceList): Amounts {
  return new Map([...list].filter(([name]) => isCounted(name)).map(([name, quantity]) => [name, amountOf(name, quantity)]));
}

/** The resources that are asked for, in the scheduler's order: cpu, memory, ephemeral storage, others. */
export function orderedRequests(requests: Amounts): readonly (readonly [resource: string, requested: bigint])[] {
  const others = [...requests.keys()].filter((name) => !PLAIN.has(name)).sort();
  return [...FIRST, ...others].map((name) => [name, requests.get(name) ?? 0n] as const).filter(([, requested]) => requested > 0n);
}

/** Shared, as most nodes have room. */
const NOTHING: readonly InsufficientResource[] = [];

/**
 * What is missing: pods, then resources.
 *
 * @param requests  in order
 */
export function insufficientResources(
  requests: ReturnType<typeof orderedRequests>,
  node: { readonly allocatable: Amounts; readonly used: Amounts; readonly pods: number },
): readonly InsufficientResource[] {
  let missing: InsufficientResource[] | undefined;
  const most = node.allocatable.get('pods') ?? 0n;
  if (BigInt(node.pods) + 1n > most) missing = [{ resource: 'pods', requested: 1n, used: BigInt(node.pods), capacity: most }];
  for (const [resource, requested] of requests) {
    const [used, capacity] = [node.used.get(resource) ?? 0n, node.allocatable.get(resource) ?? 0n];
    if (requested > capacity - used) (missing ??= []).push({ resource, requested, used, capacity });
  }
  return missing ?? NOTHING;
}
