import type { RuntimePart } from '../core/pod-sandbox.js';
import type { Workload } from '../core/workload.js';
import type { ContainerRuntime } from '../monitor/ports.js';

/** Of a pod or a container that was evicted. `error`: why its runtime has not removed it yet; undefined: it has. */
export type OnRemoval = (workload: Workload, error: string | undefined) => void;

interface Removal {
  readonly workload: Workload;
  readonly part: RuntimePart;
  asking: boolean;
  failed: boolean;
}

/** Has what was evicted removed by its runtime, so that what it has written goes with it. In the background, and again until it is done. */
export class Removals {
  readonly #runtimeOf: (endpoint: string) => ContainerRuntime | undefined;
  readonly #onRemoval: OnRemoval;
  readonly #open = new Set<Removal>();

  /**
   * @param runtimeOf  the one to be asked now; undefined: it is none of a workload source
   * @param onRemoval  told at the first failure and at the end of each
   */
  constructor(runtimeOf: (endpoint: string) => ContainerRuntime | undefined, onRemoval: OnRemoval) {
    this.#runtimeOf = runtimeOf;
    this.#onRemoval = onRemoval;
  }

  begin(workload: Workload, part: RuntimePart): void {
    const removal = { workload, part, asking: false, failed: false };
    this.#open.add(removal);
    this.#ask(removal);
  }

  /** Asks once more for what has failed. To be called where nothing is urgent. */
  retry(): void {
    for (const removal of this.#open) if (!removal.asking) this.#ask(removal);
  }

  /** Not done yet. */
  get left(): readonly Workload[] {
    return [...this.#open].map(({ workload }) => workload);
  }

  #ask(removal: Removal): void {
    removal.asking = true;
    const runtime = this.#runtimeOf(removal.part.endpoint);
    const asked = runtime?.remove(removal.part) ?? Promise.resolve('its container runtime is no workload source any more');
    void asked.then((error) => {
      removal.asking = false;
      if (error === undefined) this.#open.delete(removal);
      else if (removal.failed) return;
      removal.failed = error !== undefined;
      this.#onRemoval(removal.workload, error);
    });
  }
}
