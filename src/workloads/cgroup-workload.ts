import type { ContainerStats, Protection, QosClass, VolumeStats, Workload, WorkloadUsage } from '../core/workload.js';
import type { CgroupSample } from './cgroup-files.js';
import type { Member } from './members.js';

const NANO = 1_000_000_000n;
const NO_CONTAINERS: readonly ContainerStats[] = [];
const NO_VOLUMES: readonly VolumeStats[] = [];

/** A cgroup as a workload. Where no rule gives a request, what the kernel keeps for it is one. */
export function workloadOf(
  { name, path, id, effect, limitBytes }: Member,
  { guaranteedBytes }: CgroupSample,
  protection: Protection | undefined,
): Workload {
  const requestBytes = effect.requestsMemory ?? guaranteedBytes;
  return {
    id: `${path}#${String(id)}`,
    name,
    path,
    priority: effect.priority,
    requests: { memory: requestBytes * NANO, ephemeralStorage: 0n, inodes: 0n },
    limits: { memory: limitBytes === undefined ? undefined : limitBytes * NANO, ephemeralStorage: undefined },
    qosClass: qosClass(requestBytes, limitBytes),
    terminationGracePeriodNs: effect.terminationGracePeriodNs,
    startOrder: id,
    protection,
    pod: undefined,
  };
}

/** As of a pod with one container that has this request and this limit (undefined: none) of memory, and the same of everything else. */
function qosClass(requestBytes: bigint, limitBytes: bigint | undefined): QosClass {
  if (requestBytes === 0n) return 'BestEffort';
  return limitBytes !== undefined && requestBytes >= limitBytes ? 'Guaranteed' : 'Burstable';
}

export function usageOf(workload: Workload, { workingSetBytes, usageBytes }: CgroupSample): WorkloadUsage {
  return {
    workload,
    stats: {
      workingSetBytes,
      usageBytes,
      processes: undefined,
      ephemeralStorageBytes: undefined,
      containers: NO_CONTAINERS,
      volumes: NO_VOLUMES,
    },
  };
}
