import type { FileSpec, Binding } from '../../native/binding.js';
import type { AmountSignal } from '../../core/signal.js';
import type { Operand } from '../../core/threshold.js';
import type { NotifierState } from '../../monitor/ports.js';
import { SignalSampler } from './signal-sampler.js';
import type { SlotWake } from './watch-slot.js';

/** A bound that a node is under: the machine's, that of the node's cgroup, or of one above it. */
export interface Level {
  readonly available: bigint;
  readonly capacity: bigint;
  /** For people, and no other level's: 'pids.max − pids.current of /demo'. */
  readonly source: string;
  /** What is used of the capacity, for the sampler: Σ weight × field. */
  readonly used: { readonly files: readonly FileSpec[]; readonly weights: readonly number[] };
}

/** All levels that have a bound, and the one with the least left: the first of those that have as little. */
export interface LevelReading {
  readonly narrowest: Level;
  readonly levels: readonly Level[];
}

/** @param used  as `source.used` counts; what is used beyond the capacity (which may be lowered) leaves nothing */
export function level(capacity: number, used: number, source: Pick<Level, 'source' | 'used'>): Level {
  return { available: BigInt(Math.max(capacity - used, 0)), capacity: BigInt(capacity), ...source };
}

export function narrowestOf(first: Level, others: readonly Level[]): LevelReading {
  const narrowest = others.reduce((least, candidate) => (candidate.available < least.available ? candidate : least), first);
  return { narrowest, levels: [first, ...others] };
}

/** The samplers of a signal that is bounded at several levels, one each: the node runs short where the first of them does. */
export class LevelSamplers {
  readonly #native: Binding;
  readonly #signal: AmountSignal;
  readonly #assumedRate: number;
  readonly #wake: SlotWake;
  readonly #bySource = new Map<string, SignalSampler>();

  /** @param assumedRate  units per second, before more was seen */
  constructor(native: Binding, signal: AmountSignal, assumedRate: number, wake: SlotWake) {
    this.#native = native;
    this.#signal = signal;
    this.#assumedRate = assumedRate;
    this.#wake = wake;
  }

  /**
   * @param thresholds  of any signals; those of its own count
   * @returns whether one was started, or its limits changed
   */
  arm(thresholds: readonly Operand[], levels: readonly Level[]): boolean {
    const own = thresholds.filter(({ signal }) => signal === this.#signal);
    let armed = false;
    for (const level of levels) if (this.#ofLevel(level).arm(own, level)) armed = true;
    for (const [name, sampler] of this.#bySource) {
      if (levels.some(({ source }) => source === name)) continue;
      sampler.close(); // it has no limit any more, or is gone
      this.#bySource.delete(name);
    }
    return armed;
  }

  /** What a pass has read: see SamplerNotifier. */
  seen(levels: readonly Level[]): void {
    for (const level of levels) this.#bySource.get(level.source)?.seen(level);
  }

  states(): NotifierState[] {
    return [...this.#bySource.values()].flatMap((sampler) => sampler.states());
  }

  close(): void {
    for (const sampler of this.#bySource.values()) sampler.close();
    this.#bySource.clear();
  }

  #ofLevel({ source, used }: Level): SignalSampler {
    const known = this.#bySource.get(source);
    if (known) return known;
    const sampled = { counts: 'used', value: used, assumedRate: this.#assumedRate, name: source } as const;
    const sampler = new SignalSampler(this.#native, sampled, this.#wake);
    this.#bySource.set(source, sampler);
    return sampler;
  }
}
