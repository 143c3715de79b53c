import type { FilesystemRole } from '../../core/layout.js';
import type { Signal } from '../../core/signal.js';
import type { Operand } from '../../core/threshold.js';
import type { NotifierState } from '../../monitor/ports.js';
import type { Binding, FilesystemStats } from '../../native/binding.js';
import type { FilesystemOnDevice } from './filesystems.js';
import { assumedFillRate, DISK_REST_MS } from '../fill-rate.js';
import { SignalSampler } from './signal-sampler.js';
import type { SlotWake } from './watch-slot.js';

const STOCKS = {
  available: { unit: 'bytes', field: 'availableBytes', name: 'available bytes' },
  inodesFree: { unit: 'inodes', field: 'inodesFree', name: 'free inodes' },
} as const;
type StockName = keyof typeof STOCKS;

/**
 * The samplers of a node's filesystems: one for bytes and one for inodes of each device, however many signals use it.
 */
export class FilesystemSamplers {
  readonly #native: Binding;
  readonly #wake: SlotWake;
  readonly #byName = new Map<string, SignalSampler>();

  constructor(native: Binding, wake: SlotWake) {
    this.#native = native;
    this.#wake = wake;
  }

  /**
   * A sampler without an observation stays as it is, because a percentage has no capacity to resolve with. It is closed
   * where the path turned out to be in memory.
   *
   * @param thresholds of any signals
   * @returns whether a sampler was started or its limits changed
   */
  arm(thresholds: readonly Operand[], devices: readonly FilesystemOnDevice[]): boolean {
    const wanted = new Set<string>();
    let armed = false;
    for (const [stock, device] of stocksOf(devices)) {
      const signals = device.roles.map((role) => signalOf(role, stock));
      const own = thresholds.filter(({ signal }) => signals.includes(signal));
      if (own.length === 0 || device.inMemory) continue;
      wanted.add(nameOf(stock, device));
      const observation = device[stock];
      if (!('missing' in observation) && this.#of(stock, device).arm(own, observation)) armed = true;
    }
    for (const [name, sampler] of this.#byName) {
      if (wanted.has(name)) continue;
      sampler.close();
      this.#byName.delete(name);
    }
    return armed;
  }

  seen(devices: readonly FilesystemOnDevice[]): void {
    for (const [stock, device] of stocksOf(devices)) {
      const observation = device[stock];
      if (!('missing' in observation)) this.#byName.get(nameOf(stock, device))?.seen(observation);
    }
  }

  states(): NotifierState[] {
    return [...this.#byName.values()].flatMap((sampler) => sampler.states());
  }

  close(): void {
    for (const sampler of this.#byName.values()) sampler.close();
    this.#byName.clear();
  }

  #of(stock: StockName, device: { readonly path: string; readonly stats: FilesystemStats }): SignalSampler {
    const name = nameOf(stock, device);
    const known = this.#byName.get(name);
    if (known) return known;
    const { unit, field } = STOCKS[stock];
    const value = { filesystem: device.stats, field };
    const sampled = { counts: 'free', value, assumedRate: assumedFillRate(unit), restPeriodMs: DISK_REST_MS, name } as const;
    const sampler = new SignalSampler(this.#native, sampled, this.#wake);
    this.#byName.set(name, sampler);
    return sampler;
  }
}

function stocksOf(devices: readonly FilesystemOnDevice[]): (readonly [StockName, FilesystemOnDevice])[] {
  return devices.flatMap((device) => [['available', device] as const, ['inodesFree', device] as const]);
}

/** 'free inodes of /var'. */
function nameOf(stock: StockName, { path }: { readonly path: string }): string {
  return `${STOCKS[stock].name} of ${path}`;
}

export function signalOf(role: FilesystemRole, stock: StockName): Signal {
  return `${role}.${stock}`;
}
