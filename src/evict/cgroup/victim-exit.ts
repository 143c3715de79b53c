import type { Binding, CgroupHandle, Watch } from '../../native/binding.js';
import type { VictimFiles } from './victim-files.js';

/** The most pidfds per victim: descriptors are scarce while a fork bomb is ended. The loop's polling finds the rest. */
const MAX_PROCESSES = 256;

/**
 * Reports that the last process of a victim has exited. v2: by cgroup.events. v1: by pidfds of the processes at that
 * moment. Only an additional wake: the loop polls anyway.
 */
export class VictimExit {
  readonly #native: Binding;
  readonly #directory: string;
  #watch: Watch | undefined;

  constructor(native: Binding, directory: string) {
    this.#native = native;
    this.#directory = directory;
  }

  /**
   * Call after the signals, which must not wait for it. `onExit` is called at most once, asynchronously. Never throws.
   */
  watch(handle: CgroupHandle, files: VictimFiles, onExit: (atNs: bigint) => void): void {
    this.close();
    try {
      this.#watch = files.unified ? this.#whenEmpty(files, onExit) : this.#whenRemoved(handle, onExit);
    } catch {
      // Usually descriptors are used up by the fork bomb that is being ended. The loop then sees the end some
      // milliseconds later.
    }
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  #whenEmpty(files: VictimFiles, onExit: (atNs: bigint) => void): Watch {
    const removedBit = this.#native.WAKE.GONE;
    const exited = (atNs: bigint): void => {
      this.close();
      onExit(atNs);
    };
    const watch = new this.#native.MemcgEvents(this.#directory, 'cgroup.events', (wake, atNs) => {
      if ((wake & removedBit) !== 0 || files.populated() === false) exited(atNs);
    });
    // Events begin here: the processes may have exited before.
    if (files.populated() === false) {
      queueMicrotask(() => {
        if (this.#watch === watch) exited(process.hrtime.bigint());
      });
    }
    return watch;
  }

  #whenRemoved(handle: CgroupHandle, onExit: (atNs: bigint) => void): Watch {
    const removedBit = this.#native.WAKE.GONE;
    return new this.#native.ProcessExit(handle.processes().slice(0, MAX_PROCESSES), (wake, atNs) => {
      if ((wake & removedBit) !== 0) onExit(atNs);
    });
  }
}
