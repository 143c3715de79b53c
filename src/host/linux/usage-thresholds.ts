import { registeredUsage, usageThreshold } from '../../core/memcg.js';
import type { Binding } from '../../native/binding.js';
import type { MemoryLimit } from './memory-limit.js';
import type { MemoryReading } from './memory.js';
import { UsageThreshold } from './usage-threshold.js';
import type { SlotState, SlotWake } from './watch-slot.js';

/** cgroup v1: one registration with the kernel per memory threshold, moved along with inactive_file and the capacity. */
export class UsageThresholds {
  readonly #native: Binding;
  readonly #directory: string;
  readonly #nodeName: string;
  readonly #pageSize: bigint;
  readonly #wake: SlotWake;
  readonly #entries = new Map<string, { readonly threshold: UsageThreshold; usage: bigint }>();

  constructor(native: Binding, directory: string, nodeName: string, pageSize: bigint, wake: SlotWake) {
    this.#native = native;
    this.#directory = directory;
    this.#nodeName = nodeName;
    this.#pageSize = pageSize;
    this.#wake = wake;
  }

  /** Those that do not stand yet say with a wake when they do. */
  arm(limits: readonly MemoryLimit[], { capacity, inactiveFile }: MemoryReading, nowNs: bigint): void {
    this.#forgetAllBut(limits);
    for (const { id, bytes } of limits) {
      const usage = registeredUsage(usageThreshold(capacity, bytes, inactiveFile), this.#pageSize);
      this.#entry(id, usage).threshold.arm({ base: capacity - bytes, usage }, nowNs);
    }
  }

  /** @param covered  something else wakes on these thresholds, too */
  states(covered: boolean): SlotState[] {
    const targetOf = (usage: bigint): string => `memory.usage_in_bytes ≥ ${String(usage)} of ${this.#nodeName}`;
    return [...this.#entries.values()].map(({ threshold, usage }) => threshold.state(usage, targetOf, threshold.live || !covered));
  }

  close(): void {
    this.#forgetAllBut([]);
  }

  #entry(id: string, usage: bigint): { readonly threshold: UsageThreshold } {
    const entry = this.#entries.get(id) ?? { threshold: new UsageThreshold(this.#native, this.#directory, this.#wake), usage };
    entry.usage = usage;
    this.#entries.set(id, entry);
    return entry;
  }

  #forgetAllBut(limits: readonly MemoryLimit[]): void {
    for (const [id, { threshold }] of this.#entries) {
      if (limits.some((limit) => limit.id === id)) continue;
      threshold.close();
      this.#entries.delete(id);
    }
  }
}
