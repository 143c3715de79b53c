import type { FileSpec, Binding } from '../../native/binding.js';
import type { AmountSignal } from '../../core/signal.js';
import type { Operand } from '../../core/threshold.js';
import type { NotifierState } from '../../monitor/ports.js';
import { SignalSampler } from './signal-sampler.js';
import type { SlotWake } from './watch-slot.js';

/** A limit of the machine, of the node's cgroup or of one above it. */
export interface Level {
  readonly available: bigint;
  readonly capacity: bigint;
  /** Unique: 'pids.max − pids.current of /demo'. */
  readonly source: string;
  /** What is used, for the sampler: Σ weight × field. */
  readonly used: { readonly files: readonly FileSpec[]; readonly weights: readonly number[] };
}

/** All levels with a limit, and the first of those that have the least left. */
export interface LevelReading {
  readonly narrowest: Level;
  readonly levels: readonly Level[];
}

/** @param used  as `source.used` counts; usage above a lowered capacity leaves 0 */
export function level(capacity: number, used: number, source: Pick<Level, 'source' | 'used'>): Level {
  return { available: BigInt(Math.max(capacity - used, 0)), capacity: BigInt(capacity), ...source };
}

export function narrowestOf(first: Level, others: readonly Level[]): LevelReading {
  const narrowest = others.reduce((least, candidate) => (candidate.available < least.available ? candidate : least), first);
  return { narrowest, levels: [first, ...others] };
}

/** Samplers of a signal with a limit at several levels, one for each. */
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
   * @param thresholds of any signals
   * @returns whether a sampler was started or its limits changed
   */
  arm(thresholds: readonly Operand[], levels: readonly Level[]): boolean {
    const own = thresholds.filter(({ signal }) => signal === this.#signal);
    let armed = false;
    for (const level of levels) if (this.#ofLevel(level).arm(own, level)) armed = true;
    for (const [name, sampler] of this.#bySource) {
      if (levels.some(({ source }) => source === name)) continue;
      sampler.close(); // no limit any more, or gone
      this.#bySource.delete(name);
    }
    return armed;
  }

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
