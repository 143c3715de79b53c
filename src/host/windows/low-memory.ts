import type { NotifierState, Wake } from '../../monitor/ports/ports.js';
import type { MemoryNotification, WindowsBinding } from '../../native/windows-binding.js';
import { thrownText } from '../../native/system-error.js';

/**
 * Windows' notification of low physical memory. Its limit is no configured threshold, so it only wakes, beside the
 * looks.
 */
export class LowMemory {
  readonly #native: WindowsBinding;
  #watch: MemoryNotification | undefined;
  #failure: string | undefined;
  #onWake: (wake: Wake) => void = () => undefined;

  constructor(native: WindowsBinding) {
    this.#native = native;
  }

  /** @returns whether it was armed by this call */
  arm(onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    if (this.#watch?.live) return false;
    this.close();
    try {
      const { FIRED } = this.#native.WAKE;
      this.#watch = new this.#native.MemoryNotification('low', (wake, atNs) => {
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
