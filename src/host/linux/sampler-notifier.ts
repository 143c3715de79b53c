import { workingSetLimit } from '../../core/memcg.js';
import type { Binding, SamplerWatch } from '../../native/binding.js';
import type { MemoryLimit } from './memory-limit.js';
import type { MemorySource } from './memory.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotState, type SlotWake } from './watch-slot.js';

const EVERY_MS = 5;

/** The native thread reads the node's working set and wakes on a crossing: where the kernel has no thresholds (v2), or refuses them. */
export class SamplerNotifier {
  readonly #native: Binding;
  readonly #workingSet: MemorySource['workingSet'];
  readonly #nodeName: string;
  readonly #slot: WatchSlot<SamplerWatch>;
  #target = '';

  constructor(native: Binding, workingSet: MemorySource['workingSet'], nodeName: string, wake: SlotWake) {
    this.#native = native;
    this.#workingSet = workingSet;
    this.#nodeName = nodeName;
    this.#slot = new WatchSlot('sampler', native.WAKE.GONE, wake);
  }

  get live(): boolean {
    return this.#slot.live;
  }

  /** True: it was started, or its limits changed. */
  arm(limits: readonly MemoryLimit[], capacity: bigint): boolean {
    const values = limits.map(({ bytes }) => Number(workingSetLimit(capacity, bytes)));
    const aim = values.join(', ');
    this.#target = `working set ≥ ${aim} of ${this.#nodeName}, every ${String(EVERY_MS)} ms`;
    if (this.#slot.aimsAt(aim)) return false;
    const { watch } = this.#slot;
    if (watch) {
      watch.setLimits(values);
      this.#slot.moved(aim);
      return true;
    }
    const { files, weights } = this.#workingSet;
    return this.#slot.open(
      aim,
      (onWake) => new this.#native.Sampler({ files, weights, intervalMs: EVERY_MS, limits: values }, onWake),
      refusal,
    );
  }

  /** undefined: it is not needed. */
  state(essential: boolean): SlotState | undefined {
    return this.live || this.#slot.failure !== undefined ? this.#slot.state(this.#target, essential) : undefined;
  }

  close(): void {
    this.#slot.close();
  }
}
