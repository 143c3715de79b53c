import type { DiskSignal, WindowsSignal } from '../../core/signal/signal.js';
import type { Observation } from '../../core/signal/observation.js';
import type { PerformanceInfo, MemoryNotification, WindowsBinding } from '../../native/windows-binding.js';
import type { NotifierState, Wake } from '../../monitor/ports/ports.js';
import { thrownText } from '../../native/system-error.js';

/**
 * memory.available: what is left of the commit limit (memory and page files). The kubelet observes the same
 * (pkg/kubelet/winstats, perfcounter_nodestats_windows.go; eviction/helpers.go: windows-global-commit-memory, v1.36.2):
 * at the limit every allocation fails, however much physical memory is free. The limit grows with a managed page file,
 * so it is read each time.
 */
export function commitAvailable({ commitLimit, commitTotal, pageSize }: PerformanceInfo, timeNs: bigint): Observation {
  return observation(commitLimit, commitTotal, pageSize, timeNs, 'CommitLimit − CommitTotal of GetPerformanceInfo');
}

/** memory.kernelAvailable: physical memory that Windows can hand out at once (free, zeroed and standby). */
export function physicalAvailable({ physicalTotal, physicalAvailable: free, pageSize }: PerformanceInfo, timeNs: bigint): Observation {
  return observation(physicalTotal, physicalTotal - free, pageSize, timeNs, 'PhysicalAvailable of GetPerformanceInfo');
}

/** The reader of each signal of the machine. A missing one does not compile. */
export const MACHINE_READERS: Readonly<Record<Exclude<WindowsSignal, DiskSignal>, typeof commitAvailable>> = {
  'memory.available': commitAvailable,
  'memory.kernelAvailable': physicalAvailable,
};

/** The observation of amounts in pages. Usage above the capacity (a page file was made smaller) leaves 0. */
function observation(capacity: bigint, used: bigint, pageSize: bigint, timeNs: bigint, source: string): Observation {
  const left = capacity > used ? capacity - used : 0n;
  return { available: left * pageSize, capacity: capacity * pageSize, timeNs, source };
}

/**
 * Windows' notification of low physical memory. Its limit is not a configured threshold, so it only wakes, beside the
 * looks.
 */
export class LowMemory {
  #watch: MemoryNotification | undefined;
  #failure: string | undefined;
  #onWake: (wake: Wake) => void = () => undefined;

  constructor(private readonly native: WindowsBinding) {}

  /** @returns whether it was armed by this call */
  arm(onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    if (this.#watch?.live) return false;
    this.close();
    try {
      const { FIRED } = this.native.WAKE;
      this.#watch = new this.native.MemoryNotification('low', (wake, atNs) => {
        if ((wake & FIRED) !== 0) this.#onWake({ source: 'memory_notification', atNs });
      });
      this.#failure = undefined;
      return true;
    } catch (error) {
      this.#failure = thrownText(error);
      return false;
    }
  }

  state(): NotifierState {
    const live = this.#watch?.live ?? false;
    return {
      mechanism: 'memory_notification',
      signal: 'memory.kernelAvailable',
      target: 'LowMemoryResourceNotification',
      live,
      reason: live ? undefined : (this.#failure ?? 'not armed'),
      hint: undefined,
      essential: false,
    };
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }
}
