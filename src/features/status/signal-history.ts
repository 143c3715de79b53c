import type { Observations } from '../../core/signal/observation.js';
import { isPressure, type Signal } from '../../core/signal/signal.js';
import { ratioOf } from '../../core/signal/pressure-share.js';

/** Ten minutes at the default monitoringInterval, which is the time between two ticks. */
const SAMPLES = 60;
/** Passes follow each other within milliseconds while something happens. */
const APART_NS = 5_000_000_000n;

/** The last values of each signal, as ticks and passes have read them. Bounded: 60 numbers a signal. */
export class SignalHistory {
  /** Monotonic nanoseconds, the oldest at `#next`. */
  readonly #times: bigint[] = [];
  readonly #values = new Map<Signal, Float64Array>();
  #next = 0;
  #lastNs: bigint | undefined;

  add(nowNs: bigint, { observed }: Observations): void {
    if (this.#lastNs !== undefined && nowNs - this.#lastNs < APART_NS) return;
    this.#lastNs = nowNs;
    const at = this.#next;
    this.#next = (at + 1) % SAMPLES;
    this.#times[at] = nowNs;
    for (const values of this.#values.values()) values[at] = NaN;
    for (const [signal, observation] of observed) {
      const values = this.#values.get(signal) ?? new Float64Array(SAMPLES).fill(NaN);
      this.#values.set(signal, values);
      values[at] = isPressure(signal) ? ratioOf(observation) : Number(observation.available);
    }
  }

  /** Monotonic, the oldest first. */
  get times(): readonly bigint[] {
    return this.#times.length < SAMPLES ? this.#times : [...this.#times.slice(this.#next), ...this.#times.slice(0, this.#next)];
  }

  /** Values in the unit of the signal, pressure from 0 to 1, at each of the times; NaN: not read then. */
  of(signal: Signal): readonly number[] {
    const values = this.#values.get(signal);
    if (values === undefined) return this.#times.map(() => NaN);
    const length = this.#times.length;
    return length < SAMPLES ? [...values.subarray(0, length)] : [...values.subarray(this.#next), ...values.subarray(0, this.#next)];
  }
}
