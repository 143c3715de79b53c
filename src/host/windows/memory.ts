import type { DiskSignal, WindowsSignal } from '../../core/signal.js';
import type { Observation } from '../../core/observation.js';
import type { PerformanceInfo } from '../../native/windows-binding.js';

/**
 * memory.available: what may still be committed, of the commit limit (all memory and all page files). The kubelet there observes the same (pkg/kubelet/winstats,
 * perfcounter_nodestats_windows.go, and eviction/helpers.go: the system container windows-global-commit-memory, v1.36.2): when it is used up every allocation fails,
 * however much physical memory is free. The limit grows where Windows manages the size of a page file, so it is read each time.
 */
export function commitAvailable({ commitLimit, commitTotal, pageSize }: PerformanceInfo, timeNs: bigint): Observation {
  return observation(commitLimit, commitTotal, pageSize, timeNs, 'CommitLimit − CommitTotal of GetPerformanceInfo');
}

/** memory.kernelAvailable: physical memory that the system can hand out at once, its cache of unchanged pages included (free, zeroed and standby). */
export function physicalAvailable({ physicalTotal, physicalAvailable: free, pageSize }: PerformanceInfo, timeNs: bigint): Observation {
  return observation(physicalTotal, physicalTotal - free, pageSize, timeNs, 'PhysicalAvailable of GetPerformanceInfo');
}

/** The reader of each signal of the machine. A signal that Windows has and that is missing here does not compile. */
export const MACHINE_READERS: Readonly<Record<Exclude<WindowsSignal, DiskSignal>, typeof commitAvailable>> = {
  'memory.available': commitAvailable,
  'memory.kernelAvailable': physicalAvailable,
};

/** In pages. What is used beyond the capacity, as where a page file was made smaller, leaves nothing. */
function observation(capacity: bigint, used: bigint, pageSize: bigint, timeNs: bigint, source: string): Observation {
  const left = capacity > used ? capacity - used : 0n;
  return { available: left * pageSize, capacity: capacity * pageSize, timeNs, source };
}
