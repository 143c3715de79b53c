import type { Departures } from '../../../core/decide/departures.js';
import { normalCgroupPath, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { Binding } from '../../../native/binding.js';
import type { Missing } from '../sampling/kernel-source.js';
import { cgroupPlan, MemoryNotifiers } from './memory-notifiers.js';
import { allocatableMemory } from './cgroup-memory.js';
import type { MemorySource } from './memory.js';
import { planFor, type NotifierMode } from '../sampling/notifier-mode.js';

/** allocatableMemory.available: what is left of the memory that all workloads share. */
export interface Allocatable {
  readonly memory: MemorySource;
  readonly notifiers: MemoryNotifiers;
}

/** The cgroup need not exist yet: until then nothing is read or armed. */
export function openAllocatable(
  config: { readonly cgroup: string; readonly capacity: bigint | undefined } | undefined,
  hierarchy: CgroupHierarchy | undefined,
  departures: Departures,
  native: Binding,
  mode: NotifierMode,
): Allocatable | Missing {
  // as on a kubelet without its pods cgroup
  if (config === undefined) return { missing: 'needs allocatable: {cgroup}', absent: true };
  if (hierarchy === undefined) return { missing: 'this machine has no cgroup memory controller' };
  const path = normalCgroupPath(config.cgroup);
  const memory = allocatableMemory(hierarchy, path, config.capacity, departures['reclaimable-cache']);
  const plan = cgroupPlan('allocatableMemory.available', hierarchy, path, memory, undefined); // v1: the node watches the machine's pressure
  return { memory, notifiers: new MemoryNotifiers(native, planFor(mode, plan)) };
}
