import type { Binding, SampledValue, SamplerWatch } from '../../../native/binding.js';
import { fillRates, type FilledUnit } from './fill-rates.js';
import { refusal, WatchSlot, type SlotState, type SlotWake } from './watch-slot.js';

/** A value that rises to its limits; one that falls to them is multiplied by −1. */
export interface Sampled {
  readonly value: SampledValue;
  readonly unit: FilledUnit;
}

/** How close to a limit the value wakes as approaching it; undefined: shortly before it. */
type Notice = number | undefined;

/** The addon samples a value and wakes on a crossing, where the kernel has no thresholds or refuses them. */
export class SamplerNotifier {
  readonly #native: Binding;
  readonly #sampled: Sampled;
  readonly #wake: SlotWake;
  readonly #slot: WatchSlot<SamplerWatch>;
  #target = '';
  #noticeDistance: Notice;

  constructor(native: Binding, sampled: Sampled, wake: SlotWake) {
    this.#native = native;
    this.#sampled = sampled;
    this.#wake = wake;
    this.#slot = new WatchSlot('sampler', native.WAKE.GONE, wake);
  }

  get live(): boolean {
    return this.#slot.live;
  }

  /** @returns whether it was started or its limits changed */
  arm(limits: readonly number[], target: string, noticeDistance?: Notice): boolean {
    const aim = `${limits.join(', ')} from ${String(noticeDistance)}`;
    this.#target = target;
    if (this.#slot.aimsAt(aim)) return false;
    const { watch } = this.#slot;
    if (watch && noticeDistance === this.#noticeDistance) {
      watch.setLimits(limits);
      this.#slot.moved(aim);
      return true;
    }
    this.#noticeDistance = noticeDistance;
    const { value, unit } = this.#sampled;
    const { SAMPLER, WAKE } = this.#native;
    return this.#slot.open(
      aim,
      (onWake) =>
        new this.#native.Sampler(
          { ...value, ...fillRates(this.#native, unit), limits, ...(noticeDistance !== undefined && { noticeDistance }) },
          (wake, atNs, detail) => {
            // GONE may have joined an approach that was not delivered yet: GONE counts.
            if (wake === WAKE.FIRED && detail === SAMPLER.APPROACHING) this.#wake('sampler', atNs, detail, true);
            else onWake(wake, atNs, detail);
          },
        ),
      refusal,
    );
  }

  /**
   * A pass has read this value. If the sampler saw it beyond a limit and it is below, the next crossing must wake
   * again.
   */
  seen(value: number): void {
    this.#slot.watch?.seen(value);
  }

  /** undefined: not needed. */
  state(essential: boolean): SlotState | undefined {
    const { watch, failure } = this.#slot;
    if (watch === undefined && failure === undefined) return undefined;
    return { ...this.#slot.state(this.#target, essential), periodMs: watch?.status().periodMs };
  }

  close(): void {
    this.#slot.close();
  }
}
