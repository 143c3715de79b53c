// What partitions of a device share (dynamic-resource-allocation, structured: checkAvailableCounters, v1.36).
import type { Device, DeviceId } from './device.js';
import type { DevicePool } from './device-pool.js';

/** What is left of the counters of one pool. */
export class CounterBalance {
  /** The remaining amount, by counter set and then by counter. */
  readonly #left: ReadonlyMap<string, Map<string, bigint>>;
  readonly #isOverdrawn: boolean;

  constructor({ counterSets, devices, elsewhere }: DevicePool, inUse: ReadonlySet<DeviceId>) {
    this.#left = new Map([...counterSets].map(([name, counters]) => [name, new Map(counters)]));
    for (const { device, id } of [...devices, ...elsewhere]) if (inUse.has(id)) this.#change(device, -1n);
    this.#isOverdrawn = [...this.#left.values()].some((counters) => [...counters.values()].some((left) => left < 0n));
  }

  /** Books what a device consumes if all of it is there. A pool with an overdrawn counter gives nothing more. */
  take(device: Device): boolean {
    if (this.#isOverdrawn) return false;
    this.#change(device, -1n);
    const isCovered = device.consumesCounters.every(({ counterSet, counters }) =>
      [...counters.keys()].every((name) => (this.#left.get(counterSet)?.get(name) ?? 0n) >= 0n),
    );
    if (!isCovered) this.#change(device, 1n);
    return isCovered;
  }

  giveBack(device: Device): void {
    this.#change(device, 1n);
  }

  #change(device: Device, sign: bigint): void {
    for (const { counterSet, counters } of device.consumesCounters) {
      const left = this.#left.get(counterSet);
      for (const [name, amount] of counters) left?.set(name, (left.get(name) ?? 0n) + sign * amount);
    }
  }
}
