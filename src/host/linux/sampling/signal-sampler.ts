import type { Signal } from '../../../core/signal/signal.js';
import { resolve, type Operand } from '../../../core/threshold/threshold.js';
import type { NotifierState, Wake } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { SamplerNotifier, type Sampled } from './sampler-notifier.js';
import type { SlotWake } from './watch-slot.js';

/** An amount of a resource, in units of its signal. */
export interface AmountReading {
  readonly available: bigint;
  readonly capacity: bigint;
}

interface SampledStock extends Sampled {
  /** The value is what is used, or −1 × what is free. */
  readonly counts: 'used' | 'free';
  /** 'pids.max − pids.current of /demo', 'free inodes of /'. */
  readonly name: string;
}

/** Wakes on thresholds of resources without kernel notification. */
export class SignalSampler {
  readonly #sampled: SampledStock;
  readonly #notifier: SamplerNotifier;
  #signals: readonly Signal[] = [];

  constructor(native: Binding, sampled: SampledStock, wake: SlotWake) {
    this.#sampled = sampled;
    this.#notifier = new SamplerNotifier(native, sampled, wake);
  }

  /**
   * @param thresholds of this resource; without any it is not sampled
   * @returns whether it was started or its limits changed
   */
  arm(thresholds: readonly Operand[], { capacity }: Pick<AmountReading, 'capacity'>): boolean {
    const { name } = this.#sampled;
    this.#signals = [...new Set(thresholds.map(({ signal }) => signal))];
    const resolved = thresholds.map(({ value }) => resolve(value, capacity));
    const bounds = [...new Set(resolved)].filter((bound) => bound > 0n); // less than 0 is never available
    if (bounds.length === 0) {
      this.close();
      return false;
    }
    // A threshold is met strictly below the bound: one unit further.
    const limits = bounds.map((bound) => Number(this.#rising({ available: bound - 1n, capacity })));
    return this.#notifier.arm(limits, `${name} < ${bounds.join(', ')}`);
  }

  seen(stock: AmountReading): void {
    this.#notifier.seen(Number(this.#rising(stock)));
  }

  states(): NotifierState[] {
    const state = this.#notifier.state(true);
    return state === undefined ? [] : this.#signals.map((signal) => ({ ...state, signal }));
  }

  close(): void {
    this.#notifier.close();
  }

  #rising({ available, capacity }: AmountReading): bigint {
    return this.#sampled.counts === 'used' ? capacity - available : -available;
  }
}

/** A sampled resource and the signals about it. */
export interface SampledResource extends SampledStock {
  readonly signals: readonly Signal[];
  /** undefined: not known now, and the sampler stays as it is. */
  readonly amount: AmountReading | undefined;
}

/** The samplers of resources without kernel notification, one for each resource with a threshold. */
export class SignalSamplers {
  readonly #native: Binding;
  readonly #byName = new Map<string, SignalSampler>();
  #onWake: (wake: Wake) => void = () => undefined;
  readonly #wake: SlotWake = (source, atNs, _detail, approaching) => {
    this.#onWake({ source, atNs, approaching });
  };

  constructor(native: Binding) {
    this.#native = native;
  }

  /**
   * @param thresholds  of any signals
   * @param resources  the samplers of others are closed
   * @returns whether a sampler was started or its limits changed
   */
  arm(thresholds: readonly Operand[], resources: readonly SampledResource[], onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    const wanted = new Set<string>();
    let armed = false;
    for (const resource of resources) {
      const own = thresholds.filter(({ signal }) => resource.signals.includes(signal));
      if (own.length === 0) continue;
      wanted.add(resource.name);
      if (resource.amount && this.#of(resource).arm(own, resource.amount)) armed = true;
    }
    for (const name of this.#byName.keys()) if (!wanted.has(name)) this.#drop(name);
    return armed;
  }

  /** What a pass has read. */
  seen(resources: readonly SampledResource[]): void {
    for (const { name, amount } of resources) if (amount) this.#byName.get(name)?.seen(amount);
  }

  states(): NotifierState[] {
    return [...this.#byName.values()].flatMap((sampler) => sampler.states());
  }

  close(): void {
    for (const name of this.#byName.keys()) this.#drop(name);
  }

  #of(resource: SampledResource): SignalSampler {
    const sampler = this.#byName.get(resource.name) ?? new SignalSampler(this.#native, resource, this.#wake);
    this.#byName.set(resource.name, sampler);
    return sampler;
  }

  #drop(name: string): void {
    this.#byName.get(name)?.close();
    this.#byName.delete(name);
  }
}
