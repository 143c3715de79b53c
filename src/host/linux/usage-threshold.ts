import { getSystemErrorName } from 'node:util';
import type { Binding, ThresholdWatch } from '../../native/binding.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotState, type SlotWake, type WatchFailure } from './watch-slot.js';

/** The arming that follows from a registration comes within this time of its wake (the loop paces wakes by 5 ms); later it has another reason. */
const SETTLES_NS = 100_000_000n;

/** Where a threshold should stand: `usage` = `base` + inactive_file, in bytes, both for the same threshold. */
export interface UsageAim {
  readonly base: bigint;
  readonly usage: bigint;
}

/** One registration of a v1 cgroup's usage with the kernel, made and moved without waiting: when it stands (elsewhere), there is a wake. */
export class UsageThreshold {
  readonly #native: Pick<Binding, 'MemcgThreshold' | 'THRESHOLD'>;
  readonly #directory: string;
  readonly #slot: WatchSlot<ThresholdWatch>;
  readonly #wake: SlotWake;
  /** What the armer was asked for last, unless it refused. */
  #asked: UsageAim | undefined;
  /** When it was heard that it stands where it was asked to; undefined: something has fired since. */
  #settledNs: bigint | undefined;
  /** Why it could not be moved last, while it stands elsewhere. */
  #unmoved: WatchFailure | undefined;

  constructor(native: Binding, directory: string, wake: SlotWake) {
    this.#native = native;
    this.#directory = directory;
    this.#wake = wake;
    this.#slot = new WatchSlot('memcg_threshold', native.WAKE.GONE, (_mechanism, atNs, detail) => {
      this.#onWake(atNs, detail);
    });
  }

  get live(): boolean {
    return this.#slot.live;
  }

  /** Asks for the registration where it is needed. */
  arm(aim: UsageAim, nowNs: bigint): void {
    const { watch } = this.#slot;
    if (watch === undefined) {
      const open = this.#slot.open('', (onWake) => new this.#native.MemcgThreshold(this.#directory, aim.usage, onWake), refusal);
      this.#asked = open ? aim : undefined;
      this.#unmoved = undefined;
    } else if (this.#asked?.usage !== aim.usage) {
      if (this.#settled(aim, nowNs)) return;
      watch.move(aim.usage);
      this.#asked = aim;
    }
  }

  /** @param wished  where it should stand: where it does stand, if that was refused, is the target then */
  state(wished: bigint, targetOf: (usage: bigint) => string, essential: boolean): SlotState {
    const { watch } = this.#slot;
    const usage = this.#unmoved === undefined ? wished : (watch?.armed ?? wished);
    const state = this.#slot.state(targetOf(usage), essential);
    return watch === undefined || this.#unmoved === undefined ? state : { ...state, ...this.#unmoved };
  }

  close(): void {
    this.#slot.close();
    this.#unmoved = undefined;
  }

  /**
   * A registration that stands is a wake, a wake is an arming, and inactive_file has mostly moved by a few pages until then: moved after
   * it at once, it would never come to rest. What moves a threshold is a crossing, or the next tick.
   */
  #settled(aim: UsageAim, nowNs: bigint): boolean {
    return this.#asked?.base === aim.base && this.#settledNs !== undefined && nowNs - this.#settledNs < SETTLES_NS;
  }

  #onWake(atNs: bigint, detail: number): void {
    const { watch } = this.#slot;
    const { MOVED, REFUSED } = this.#native.THRESHOLD;
    this.#settledNs = undefined;
    if (watch !== undefined && (detail & MOVED) !== 0) {
      this.#unmoved = undefined;
      if (watch.armed === this.#asked?.usage) this.#settledNs = process.hrtime.bigint();
      else if ((detail & REFUSED) !== 0) this.#asked = undefined; // it stands where it was asked to before, and was refused since
    } else if (watch !== undefined && (detail & REFUSED) !== 0) {
      this.#refused(watch);
      return; // no reason to look: it would be tried again at once, and the sampler watches
    }
    this.#wake('memcg_threshold', atNs, 0);
  }

  /** Tried again at the next arming. What stands elsewhere stays. */
  #refused(watch: ThresholdWatch): void {
    this.#asked = undefined;
    const code = getSystemErrorName(-watch.status().errno);
    const error = new Error(`${code}: ${this.#directory}/cgroup.event_control took no registration`);
    const failure = refusal(Object.assign(error, { code, syscall: 'write' }));
    if (watch.armed === undefined) this.#slot.fail(failure);
    else this.#unmoved = failure;
  }
}
