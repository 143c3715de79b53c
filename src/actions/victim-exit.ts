import type { Binding, CgroupHandle, Watch } from '../native/binding.js';
import type { VictimFiles } from './victim-files.js';

/** Held at most for one victim: descriptors are short where a fork bomb is ended. Beyond that, and for whoever is forked later, the loop looks by itself. */
const MOST_PROCESSES = 256;

/**
 * Tells when the last process of a victim has exited. v2: cgroup.events says so. v1: the processes that live in it at that moment are held by pidfds. Only an
 * additional wake: where it cannot be had, or is wrong, the loop's own looks find the same.
 */
export class VictimExit {
  readonly #native: Binding;
  readonly #directory: string;
  #watch: Watch | undefined;

  constructor(native: Binding, directory: string) {
    this.#native = native;
    this.#directory = directory;
  }

  /** To be called after the signals were sent: nothing may hold them up. `onExit` is called once at most, on its own turn. Never throws. */
  watch(handle: CgroupHandle, files: VictimFiles, onExit: (atNs: bigint) => void): void {
    this.close();
    try {
      this.#watch = files.unified ? this.#whenEmpty(files, onExit) : this.#whenGone(handle, onExit);
    } catch {
      // Out of descriptors as a rule, as in the fork bomb that is being ended. The loop looks by itself, so that only the end is seen some
      // milliseconds later: nobody could do anything about that now, and this path writes no line of the log.
    }
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  #whenEmpty(files: VictimFiles, onExit: (atNs: bigint) => void): Watch {
    const gone = this.#native.WAKE.GONE;
    const exited = (atNs: bigint): void => {
      this.close();
      onExit(atNs);
    };
    const watch = new this.#native.MemcgEvents(this.#directory, 'cgroup.events', (wake, atNs) => {
      if ((wake & gone) !== 0 || files.populated() === false) exited(atNs);
    });
    // The kernel tells of changes from here on: who was signalled may have exited before.
    if (files.populated() === false) {
      queueMicrotask(() => {
        if (this.#watch === watch) exited(process.hrtime.bigint());
      });
    }
    return watch;
  }

  #whenGone(handle: CgroupHandle, onExit: (atNs: bigint) => void): Watch {
    const gone = this.#native.WAKE.GONE;
    return new this.#native.ProcessExit(handle.processes().slice(0, MOST_PROCESSES), (wake, atNs) => {
      if ((wake & gone) !== 0) onExit(atNs);
    });
  }
}
