import { getSystemErrorName } from 'node:util';
import type { Binding, ThresholdWatch } from '../../../native/binding.js';
import { refusal, WatchSlot, type SlotState, type SlotWake, type WatchFailure } from '../sampling/watch-slot.js';
import { registeredUsage, usageThreshold } from '../../../core/signal/memcg.js';
import type { MemoryReading } from './memory.js';

/** A memory threshold, resolved: wake when less than `bytes` are available. */
export interface MemoryLimit {
  /** Distinguishes the thresholds of a configuration. */
  readonly id: string;
  readonly bytes: bigint;
}

/**
 * Reclaimable memory alone moves a registration once in this time: each takes the kernel up to 40 ms, and may wake when
 * it stands, which arms all of them.
 */
const MOVES_EVERY_NS = 1_000_000_000n;

/** The wanted registration: `usage` = `base` + reclaimable memory, in bytes. */
interface UsageAim {
  readonly base: bigint;
  readonly usage: bigint;
}

/**
 * A registration of a v1 cgroup's usage with the kernel, made and moved without waiting: a wake follows when it stands,
 * unless it was only moved and usage is below it.
 */
export class UsageThreshold {
  readonly #native: Pick<Binding, 'MemcgThreshold' | 'THRESHOLD'>;
  readonly #slot: WatchSlot<ThresholdWatch>;
  /** The last request, unless it was refused. */
  #requested: UsageAim | undefined;
  /** When it was; undefined: usage has crossed a limit since. */
  #requestedNs: bigint | undefined;
  /** Why the last move was refused, while the old registration stands. */
  #unmoved: WatchFailure | undefined;

  constructor(
    native: Binding,
    private readonly directory: string,
    private readonly wake: SlotWake,
  ) {
    this.#native = native;
    this.#slot = new WatchSlot('memcg_threshold', native.WAKE.GONE, (_mechanism, atNs, detail) => {
      this.#onWake(atNs, detail);
    });
  }

  get live(): boolean {
    return this.#slot.live;
  }

  arm(aim: UsageAim, nowNs: bigint): void {
    const { watch } = this.#slot;
    if (watch === undefined) {
      const open = this.#slot.open('', (onWake) => new this.#native.MemcgThreshold(this.directory, aim.usage, onWake), refusal);
      this.#requested = open ? aim : undefined;
      this.#requestedNs = nowNs;
      this.#unmoved = undefined;
    } else if (this.#requested?.usage !== aim.usage && !this.#isSettling(aim, nowNs)) {
      watch.move(aim.usage);
      this.#requested = aim;
      this.#requestedNs = nowNs;
    }
  }

  /** @param wished  the wanted usage; after a refused move the target is the usage that stands */
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

  /** Reclaimable memory has mostly changed by some pages since. A crossing or the next tick moves it. */
  #isSettling({ base }: UsageAim, nowNs: bigint): boolean {
    return this.#requested?.base === base && this.#requestedNs !== undefined && nowNs - this.#requestedNs < MOVES_EVERY_NS;
  }

  #onWake(atNs: bigint, detail: number): void {
    const { watch } = this.#slot;
    const { MOVED, REFUSED } = this.#native.THRESHOLD;
    if (watch !== undefined && (detail & MOVED) !== 0) {
      this.#unmoved = undefined;
      // It stands at an earlier request, and the newest was refused.
      if (watch.armed !== this.#requested?.usage && (detail & REFUSED) !== 0) this.#requested = undefined;
    } else if (watch !== undefined && (detail & REFUSED) !== 0) {
      this.#refused(watch);
      return; // no wake: it would be tried again at once, and the sampler watches
    } else {
      this.#requestedNs = undefined;
    }
    this.wake('memcg_threshold', atNs, 0);
  }

  /** Tried again at the next arming. */
  #refused(watch: ThresholdWatch): void {
    this.#requested = undefined;
    const code = getSystemErrorName(-watch.status().errno);
    const error = new Error(`${code}: ${this.directory}/cgroup.event_control took no registration`);
    const failure = refusal(Object.assign(error, { code, syscall: 'write' }));
    if (watch.armed === undefined) this.#slot.fail(failure);
    else this.#unmoved = failure;
  }
}

/** cgroup v1: a registration with the kernel for each memory threshold, moved with reclaimable memory and the capacity. */
export class UsageThresholds {
  readonly #entries = new Map<string, { readonly threshold: UsageThreshold; usage: bigint }>();

  constructor(
    private readonly native: Binding,
    private readonly directory: string,
    private readonly nodeName: string,
    private readonly pageSize: bigint,
    private readonly wake: SlotWake,
  ) {}

  /** A first registration wakes when it stands. */
  arm(limits: readonly MemoryLimit[], { capacity, reclaimable }: MemoryReading, nowNs: bigint): void {
    this.#forgetAllBut(limits);
    for (const { id, bytes } of limits) {
      const usage = registeredUsage(usageThreshold(capacity, bytes, reclaimable), this.pageSize);
      this.#entry(id, usage).threshold.arm({ base: capacity - bytes, usage }, nowNs);
    }
  }

  /** @param covered  the sampler watches these thresholds, too */
  states(covered: boolean): SlotState[] {
    const targetOf = (usage: bigint): string => `memory.usage_in_bytes ≥ ${String(usage)} of ${this.nodeName}`;
    return [...this.#entries.values()].map(({ threshold, usage }) => threshold.state(usage, targetOf, threshold.live || !covered));
  }

  close(): void {
    this.#forgetAllBut([]);
  }

  #entry(id: string, usage: bigint): { readonly threshold: UsageThreshold } {
    const entry = this.#entries.get(id) ?? { threshold: new UsageThreshold(this.native, this.directory, this.wake), usage };
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
