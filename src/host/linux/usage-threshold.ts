import { getSystemErrorName } from 'node:util';
import type { Binding, ThresholdWatch } from '../../native/binding.js';
import { refusal } from './refusal.js';
import { WatchSlot, type SlotState, type SlotWake, type WatchFailure } from './watch-slot.js';
import { registeredUsage, usageThreshold } from '../../core/memcg.js';
import type { MemoryReading } from './memory.js';

/** A memory threshold of the configuration, resolved: wake when less than `bytes` are available. */
export interface MemoryLimit {
  /** Tells the thresholds of one configuration apart. */
  readonly id: string;
  readonly bytes: bigint;
}

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
