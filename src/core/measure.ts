import type { Departures } from './departure.js';
import { countedBy, holdingOn } from './disk-holding.js';
import { diskParts, diskUsage } from './disk-usage.js';
import type { Layout } from './layout.js';
import { SIGNAL_FACTS, type ResourceSignal } from './signal.js';
import type { Workload, WorkloadStats } from './workload.js';

/** What a ranking looks at in a workload. */
export interface Measure {
  /** In the unit of the signal; undefined: not known. */
  readonly usage: (workload: Workload, stats: WorkloadStats) => bigint | undefined;
  /** × 10⁹: what usage has to be above to exceed it. */
  readonly requestNano: (workload: Workload) => bigint;
  /** × 10⁹: what is taken off the usage; the request, but for the kubelet's ranking by inodes. */
  readonly subtractedNano: (workload: Workload) => bigint;
}

const nothing = (): bigint => 0n;
const memoryRequest = ({ requests }: Workload): bigint => requests.memory;
const storageRequest = ({ requests }: Workload): bigint => requests.ephemeralStorage;
const inodesRequest = ({ requests }: Workload): bigint => requests.inodes;

const MEMORY: Measure = { usage: (_, stats) => stats.workingSetBytes, requestNano: memoryRequest, subtractedNano: memoryRequest };
/** Nobody can request processes. */
const PIDS: Measure = { usage: (_, stats) => stats.processes, requestNano: nothing, subtractedNano: nothing };
/** The request is for what is written; images are not part of it. */
const IMAGE_BYTES: Measure = { usage: (_, stats) => stats.images?.usedBytes, requestNano: nothing, subtractedNano: nothing };
const IMAGE_INODES: Measure = { ...IMAGE_BYTES, usage: (_, stats) => stats.images?.inodesUsed };

/** What is measured where this signal is short. */
export function measureOf(signal: ResourceSignal, layout: Layout, departures: Departures): Measure {
  const { resource } = SIGNAL_FACTS[signal];
  if (resource === 'memory') return MEMORY;
  if (resource === 'pids') return PIDS;
  const ofPods = ofDisk(signal, layout, departures);
  const usage: Measure['usage'] = (workload, stats) => {
    if (workload.pod !== undefined || stats.disks === undefined) return ofPods.usage(workload, stats);
    const holding = holdingOn(signal, stats);
    return holding && countedBy(signal, holding.uses);
  };
  return { ...ofPods, usage };
}

function ofDisk(signal: ResourceSignal, layout: Layout, departures: Departures): Measure {
  const { resource } = SIGNAL_FACTS[signal];
  const parts = diskParts(signal, layout);
  if (parts.length === 0 && departures['image-usage']) return resource === 'inodes' ? IMAGE_INODES : IMAGE_BYTES;
  if (resource === 'ephemeral-storage') {
    const usage: Measure['usage'] = (workload, stats) => diskUsage(workload, stats, parts, 'usedBytes');
    return { usage, requestNano: storageRequest, subtractedNano: storageRequest };
  }
  return {
    usage: (workload, stats) => diskUsage(workload, stats, parts, 'inodesUsed'),
    requestNano: inodesRequest,
    subtractedNano: departures['inode-ranking'] ? inodesRequest : storageRequest,
  };
}
