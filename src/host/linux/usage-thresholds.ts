import { registeredUsage, usageThreshold } from '../../core/memcg.js';
import type { Binding } from '../../native/binding.js';
import type { MemoryLimit } from './memory-limit.js';
import type { MemoryReading } from './memory.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotState, type SlotWake } from './watch-slot.js';

/** cgroup v1: one registration with the kernel per memory threshold, moved along with inactive_file and the capacity. */
export class UsageThresholds {
  readonly #native: Binding;
  readonly #directory: string;
  readonly #nodeName: string;
  readonly #pageSize: bigint;
  readonly #wake: SlotWake;
  readonly #slots = new Map<string, { readonly slot: WatchSlot; target: string }>();

  constructor(native: Binding, directory: string, nodeName: string, pageSize: bigint, wake: SlotWake) {
    this.#native = native;
    this.#directory = directory;
    this.#nodeName = nodeName;
    this.#pageSize = pageSize;
    this.#wake = wake;
  }

  /**
   * @param mayWait  false: what is live stays where it is, because registering takes long (see MemoryNotifiers)
   * @returns whether something was registered, and whether now all stand exactly where they should
   */
  arm(limits: readonly MemoryLimit[], { capacity, inactiveFile }: MemoryReading, mayWait: boolean): { moved: boolean; exact: boolean } {
    this.#forgetAllBut(limits);
    let moved = false;
    let exact = true;
    for (const { id, bytes } of limits) {
      const usage = registeredUsage(usageThreshold(capacity, bytes, inactiveFile), this.#pageSize);
      const target = `memory.usage_in_bytes ≥ ${String(usage)} of ${this.#nodeName}`;
      const entry = this.#slots.get(id) ?? { slot: new WatchSlot('memcg_threshold', this.#native.WAKE.GONE, this.#wake), target };
      this.#slots.set(id, entry);
      if (entry.slot.aimsAt(String(usage))) continue;
      if (!entry.slot.live || mayWait) {
        const armed = entry.slot.open(String(usage), (onWake) => new this.#native.MemcgThreshold(this.#directory, usage, onWake), refusal);
        if (armed || !entry.slot.live) entry.target = target;
        moved ||= armed;
        exact &&= armed;
      } else {
        exact = false;
      }
    }
    return { moved, exact };
  }

  /** @param covered  something else wakes on these thresholds, too */
  states(covered: boolean): SlotState[] {
    return [...this.#slots.values()].map(({ slot, target }) => slot.state(target, slot.live || !covered));
  }

  close(): void {
    this.#forgetAllBut([]);
  }

  #forgetAllBut(limits: readonly MemoryLimit[]): void {
    for (const [id, { slot }] of this.#slots) {
      if (limits.some((limit) => limit.id === id)) continue;
      slot.close();
      this.#slots.delete(id);
    }
  }
}
