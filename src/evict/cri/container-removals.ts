import type { RuntimePart } from '../../core/workload/pod-sandbox.js';
import type { Workload } from '../../core/workload/workload.js';
import type { ContainerRuntime } from '../../monitor/ports/ports.js';

/** The outcome for an evicted pod or container. `error`: why its runtime has not removed it yet; undefined: removed. */
type OnRemoval = (workload: Workload, error: string | undefined) => void;

interface Removal {
  readonly workload: Workload;
  readonly part: RuntimePart;
  asking: boolean;
  failed: boolean;
}

/** Asks runtimes to remove evicted pods and containers, which frees their disk space. In the background, until done. */
export class Removals {
  readonly #open = new Set<Removal>();

  /**
   * @param runtimeOf  undefined: the endpoint is no longer a workload source
   * @param onRemoval  called on the first failure and at the end of each removal
   */
  constructor(
    private readonly runtimeOf: (endpoint: string) => ContainerRuntime | undefined,
    private readonly onRemoval: OnRemoval,
  ) {}

  begin(workload: Workload, part: RuntimePart): void {
    const removal = { workload, part, asking: false, failed: false };
    this.#open.add(removal);
    this.#ask(removal);
  }

  /** Repeats failed requests. Call when nothing is urgent. */
  retry(): void {
    for (const removal of this.#open) if (!removal.asking) this.#ask(removal);
  }

  get unfinished(): readonly Workload[] {
    return [...this.#open].map(({ workload }) => workload);
  }

  #ask(removal: Removal): void {
    removal.asking = true;
    const runtime = this.runtimeOf(removal.part.endpoint);
    const removed = runtime?.remove(removal.part) ?? Promise.resolve('its container runtime is not a workload source any more');
    void removed.then((error) => {
      removal.asking = false;
      if (error === undefined) this.#open.delete(removal);
      else if (removal.failed) return;
      removal.failed = error !== undefined;
      this.onRemoval(removal.workload, error);
    });
  }
}
