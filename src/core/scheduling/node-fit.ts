// Whether a pod's requests fit on a node (pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.2).
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

const FIRST = ['cpu', 'memory', 'ephemeral-storage'];

export function amountsOf(list: ResourceList): Amounts {
  return new Map([...list].map(([name, quantity]) => [name, amountOf(name, quantity)]));
}

/** What is missing, in the scheduler's order: pods, cpu, memory, ephemeral storage, others. */
export function insufficientResources(
  requests: Amounts,
  node: { readonly allocatable: Amounts; readonly used: Amounts; readonly pods: number },
): readonly InsufficientResource[] {
  const missing: InsufficientResource[] = [];
  const most = node.allocatable.get('pods') ?? 0n;
  if (BigInt(node.pods) + 1n > most) missing.push({ resource: 'pods', requested: 1n, used: BigInt(node.pods), capacity: most });
  for (const resource of [...FIRST, ...[...requests.keys()].filter((name) => !FIRST.includes(name)).sort()]) {
    const requested = requests.get(resource) ?? 0n;
    const [used, capacity] = [node.used.get(resource) ?? 0n, node.allocatable.get(resource) ?? 0n];
    if (requested > 0n && requested > capacity - used) missing.push({ resource, requested, used, capacity });
  }
  return missing;
}
