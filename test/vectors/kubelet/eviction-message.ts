import type { Decision } from '../../../src/core/decide/eviction.js';
import type { ThresholdCause } from '../../../src/core/threshold/threshold-cause.js';
import { canonicalText } from '../../../src/core/quantity/quantity-format.js';
import { formatBytes } from '../../../src/core/quantity/quantity.js';
import { SIGNAL_FACTS, type Resource } from '../../../src/core/signal/signal.js';
import type { StorageBreach } from '../../../src/core/disk/storage-limit.js';
import { resolve, type ThresholdValue } from '../../../src/core/threshold/threshold.js';
import type { ContainerStats, ResourceList, Workload, WorkloadStats } from '../../../src/core/workload/workload.js';

/** The text of the pod's status and of the event. */
export interface EvictionMessage {
  /** It ends with a space. */
  readonly message: string;
  /** Of the event; null: none. */
  readonly annotations: Readonly<Record<string, string>> | null;
}

const NANO = 1_000_000_000n;

/** The kubelet's text (eviction/helpers.go, evictionMessage, and the formats of the limits; v1.36.2). */
export function evictionMessage({ cause, resource, victim }: Decision): EvictionMessage {
  if (cause.kind === 'policy' || cause.kind === 'disruption') throw new Error('the kubelet has no policies and no disruptions');
  if (cause.kind === 'storage-limit') return { message: limitMessage(cause.breach), annotations: null };
  const message = thresholdText(cause, resource);
  const { workload, stats } = victim;
  if (stats === undefined) return { message, annotations: {} };
  const pod = podOffender(workload, stats, resource);
  const containers = containerOffenders(workload, stats, resource);
  const sentences = [
    ...(pod ? [`Pod ${offence(pod, resource)}`] : []),
    ...containers.map((each) => `Container ${offence(each, resource)}`),
  ];
  return {
    message: message + sentences.join(''),
    annotations: {
      ...(pod ? { offending_pod: pod.name, offending_pod_usage: formatBytes(pod.bytes) } : {}),
      offending_containers: containers.map(({ name }) => name).join(','),
      offending_containers_usage: containers.map(({ bytes }) => formatBytes(bytes)).join(','),
      starved_resource: resource,
    },
  };
}

function thresholdText({ threshold, observation }: ThresholdCause, resource: Resource): string {
  const { available, capacity } = observation;
  const shown = SIGNAL_FACTS[threshold.signal].unit === 'bytes' ? formatBytes(available) : canonicalText(available * NANO, 'DecimalSI');
  return `The node was low on resource: ${resource}. Threshold quantity: ${resolvedText(threshold.value, capacity)}, available: ${shown}. `;
}

/** The value as messages print it: a percentage becomes a binary quantity, also for inodes and processes. */
export function resolvedText(value: ThresholdValue, capacity: bigint): string {
  return value.kind === 'quantity' ? value.quantity.text : formatBytes(resolve(value, capacity));
}

function limitMessage(breach: StorageBreach): string {
  const limit = breach.limit.text;
  switch (breach.kind) {
    case 'emptyDir':
      return `Usage of EmptyDir volume "${breach.volume}" exceeds the limit "${limit}". `;
    case 'pod':
      return `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
    case 'container':
      return `Container ${breach.container} exceeded its local ephemeral storage limit "${limit}". `;
  }
}

interface Offender {
  readonly name: string;
  readonly bytes: bigint;
  readonly request: string;
}

function offence({ name, bytes, request }: Offender, resource: Resource): string {
  return `${name} was using ${formatBytes(bytes)}, request is ${request}, has larger consumption of ${resource}. `;
}

/** The pod, if it has a memory request of its own, even if it uses less than that (as the kubelet does). */
function podOffender({ name, pod }: Workload, stats: WorkloadStats, resource: Resource): Offender | undefined {
  const request = resource === 'memory' ? pod?.podLevel?.requests.get(resource) : undefined;
  const bytes = stats.workingSetBytes ?? (stats.memoryWithoutWorkingSet ? 0n : undefined);
  return request === undefined || bytes === undefined ? undefined : { name, bytes, request: request.text };
}

/** In the order of the statistics. Of containers with the same name the first counts, init containers last. */
function containerOffenders({ pod }: Workload, stats: WorkloadStats, resource: Resource): Offender[] {
  if (pod === undefined) return [];
  return stats.containers.flatMap((measured) => {
    const container = pod.containers.find(({ name }) => name === measured.name);
    return (container && offender(container.name, containerUsage(measured, resource), container.requests, resource)) ?? [];
  });
}

/**
 * Storage needs both the writable layer and the logs; the sum wraps, as in the kubelet. Inodes and processes are never
 * known.
 */
function containerUsage({ workingSetBytes, rootfs, logs }: ContainerStats, resource: Resource): bigint | undefined {
  switch (resource) {
    case 'memory':
      return workingSetBytes;
    case 'ephemeral-storage':
      return rootfs?.usedBytes === undefined || logs?.usedBytes === undefined
        ? undefined
        : BigInt.asIntN(64, rootfs.usedBytes + logs.usedBytes);
    case 'inodes':
    case 'pids':
      return undefined;
  }
}

function offender(name: string, bytes: bigint | undefined, requests: ResourceList, resource: Resource): Offender | undefined {
  const request = requests.get(resource);
  if (bytes === undefined || bytes * NANO <= (request?.nano ?? 0n)) return undefined;
  return { name, bytes, request: request?.text ?? '0' };
}
