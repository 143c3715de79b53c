import { pressureParts, type PressureSignal } from '../../core/signal.js';
import type { NotifierState } from '../../monitor/ports.js';
import type { Binding, OnWake, Watch } from '../../native/binding.js';
import { allowedPsiWindow, PSI_PERIOD_US } from './psi-window.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotWake } from './watch-slot.js';

export interface StallLimit {
  readonly signal: PressureSignal;
  /** Billionths of wall time. */
  readonly share: bigint;
}

/**
 * The kernel's trigger for a threshold of pressure, which is read before it counts. An average rises above a value only
 * while some of its periods are above it, so the trigger serves averages, too, and wakes again with every period.
 */
export class StallTrigger {
  readonly #native: Binding;
  readonly #file: string;
  readonly #limit: StallLimit;
  readonly #windowUs: number;
  readonly #stallUs: number;
  readonly #slot: WatchSlot;
  #armedUs: number;

  constructor(native: Binding, file: string, limit: StallLimit, windowNs: bigint, wake: SlotWake) {
    this.#native = native;
    this.#file = file;
    this.#limit = limit;
    this.#windowUs = pressureParts(limit.signal).average === '' ? Number(windowNs / 1_000n) : PSI_PERIOD_US;
    // The kernel wants at least 1 µs. Where the window has to be longer than wanted, the stall stays: rather too early.
    this.#stallUs = Math.max(Math.floor((Number(limit.share) / 1e9) * this.#windowUs), 1);
    this.#slot = new WatchSlot('psi_trigger', native.WAKE.GONE, wake);
    this.#armedUs = this.#windowUs;
  }

  /** True: it was armed anew. */
  arm(): boolean {
    if (this.#slot.live) return false;
    const { kind } = pressureParts(this.#limit.signal);
    const open = (onWake: OnWake): Watch => {
      this.#armedUs = allowedPsiWindow(this.#native, this.#file, kind, this.#windowUs);
      return new this.#native.PsiTrigger(this.#file, { kind, stallUs: this.#stallUs, windowUs: this.#armedUs }, onWake);
    };
    return this.#slot.open(this.#file, open, refusal);
  }

  state(): NotifierState {
    const { signal } = this.#limit;
    const ms = (us: number): string => String(us / 1000);
    const target = `${pressureParts(signal).kind} ${ms(this.#stallUs)} ms of ${ms(this.#armedUs)} ms in ${this.#file}`;
    return { ...this.#slot.state(target, false), signal };
  }

  close(): void {
    this.#slot.close();
  }
}
