import type { Workload } from '../workload/workload.js';
import type { Measure, ResourceDefinition } from './signal-definition.js';

const request = ({ requests }: Workload): bigint => requests.memory;
const WORKING_SET: Measure = { usage: (_, stats) => stats.workingSetBytes, requestNano: request, subtractedNano: request };
const WITH_SWAP: Measure = {
  ...WORKING_SET,
  usage: (_, { workingSetBytes, swapBytes = 0n }) => (workingSetBytes === undefined ? undefined : workingSetBytes + swapBytes),
};

/** What every signal of memory has in common. */
export const MEMORY = {
  resource: 'memory',
  condition: 'MemoryPressure',
  measure: (_layout, _departures, countsSwap) => (countsSwap ? WITH_SWAP : WORKING_SET),
} as const satisfies Partial<ResourceDefinition>;

const BYTES = { ...MEMORY, operator: '<', unit: 'bytes' } as const;

export const memoryAvailable = { ...BYTES, name: 'memory.available', kubelet: true } as const;

export const allocatableMemoryAvailable = {
  ...BYTES,
  name: 'allocatableMemory.available',
  kubelet: true,
  scope: 'allocatable',
  absentOnWindows: 'Windows has no cgroup that all workloads live in',
} as const;

export const memoryKernelAvailable = { ...BYTES, name: 'memory.kernelAvailable', kubelet: false } as const;
