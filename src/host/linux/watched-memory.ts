import { totalmem } from 'node:os';
import type { Departures } from '../../core/decide/departures.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { showsRootCgroup } from './cgroup/hierarchies.js';
import { cgroupMemory, limitNow } from './memory/cgroup-memory.js';
import { findArcstats, machineMemory, readMemoryFiles, type MemoryFiles } from './memory/machine-memory.js';
import type { MemorySource } from './memory/memory.js';
import { cgroupPlan, type WatchPlan } from './memory/memory-notifiers.js';
import { readPageSize } from './memory/memory-reserve.js';

/** The memory of a node, and how it is watched. */
export interface WatchedMemory {
  readonly memory: MemorySource;
  readonly plan: WatchPlan;
}

export const MACHINE_STALLS = '/proc/pressure/memory';

/**
 * In a container the mount shows an ordinary cgroup as the root. While that has a limit which leaves less than the machine
 * has, its memory is all that the kernel can give. The limit may be set or removed at any time (docker update, MemoryMax=),
 * and so may ZFS be loaded and unloaded, whose cache counts where MemAvailable does.
 *
 * @param files  of the machine, and whether ZFS' statistics are there, which is asked at each look
 */
export function watchedMachine(
  hierarchy: CgroupHierarchy | undefined,
  departures: Departures,
  files = { read: readMemoryFiles, findArcstats },
): WatchedMemory & { readonly changed: () => WatchedMemory | undefined } {
  const isRoot = hierarchy !== undefined && showsRootCgroup(hierarchy);
  const v1Root = isRoot && hierarchy.version === 1 ? hierarchy : undefined;
  const container = isRoot || !departures['kernel-memory'] ? undefined : hierarchy;
  const limiting = () => (container !== undefined && limitNow(container, '/') <= totalmem() ? container : undefined);
  const open = (): WatchedMemory & { readonly isCurrent: () => boolean } => {
    const cgroup = limiting();
    if (cgroup !== undefined) {
      const memory = cgroupMemory(cgroup, '/', departures['reclaimable-cache']);
      return {
        memory,
        plan: cgroupPlan('memory.available', cgroup, '/', memory, MACHINE_STALLS),
        isCurrent: () => limiting() !== undefined,
      };
    }
    const opened = files.read();
    const whole = wholeMachine(v1Root, departures, opened);
    const countsZfs = whole.memory.countsKernelMemory === true;
    const isCurrent = () => limiting() === undefined && (!countsZfs || files.findArcstats() === opened.arcstats);
    return { ...whole, isCurrent };
  };
  let watched = open();
  const changed = (): WatchedMemory | undefined => {
    if (watched.isCurrent()) return undefined;
    watched = open();
    return watched;
  };
  return { memory: watched.memory, plan: watched.plan, changed };
}

function wholeMachine(v1Root: CgroupHierarchy | undefined, departures: Departures, files: MemoryFiles): WatchedMemory {
  const memory = machineMemory(departures, v1Root, files);
  const plan: WatchPlan = {
    signal: 'memory.available',
    nodeName: 'the machine',
    thresholdDirectory: v1Root && cgroupDirectory(v1Root, '/'),
    sampled: memory.sampled,
    pressureFile: MACHINE_STALLS,
    eventsDirectory: undefined,
    oomDirectory: undefined,
    pageSize: readPageSize(),
  };
  return { memory, plan };
}
