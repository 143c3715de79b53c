import { workingSetLimit } from '../../core/memcg.js';
import type { NotifierState, Wake } from '../../monitor/ports.js';
import type { Binding } from '../../native/binding.js';
import { assumedFillRate } from './fill-rate.js';
import type { MemoryLimit } from './memory-limit.js';
import type { MemoryReading, MemorySource } from './memory.js';
import { PressureNotifier } from './pressure-notifier.js';
import { refusal } from './refusal.js';
import { SamplerNotifier } from './sampler-notifier.js';
import { UsageThresholds } from './usage-thresholds.js';
import { WatchSlot, type SlotWake } from './watch-slot.js';

/** What there is to watch on a node. */
export interface WatchPlan {
  readonly signal: NotifierState['signal'];
  /** What the memory is of, for people: 'the machine' or the cgroup's path. */
  readonly nodeName: string;
  /** v1: the cgroup whose usage the kernel compares with thresholds; undefined: the sampler watches. */
  readonly thresholdDirectory: string | undefined;
  readonly workingSet: MemorySource['workingSet'];
  /** undefined: not to be watched. */
  readonly pressureFile: string | undefined;
  /** v2: the cgroup whose memory.events tells of limits that were hit. */
  readonly eventsDirectory: string | undefined;
  readonly pageSize: bigint;
}

/**
 * For this long after a wake no v1 threshold is registered anew: the kernel waits for an RCU grace period in it (mm/memcontrol-v1.c,
 * synchronize_rcu; 24 ms measured on 6.18), and this thread, which decides and evicts, with it.
 */
const QUIET_NS = 1_000_000_000n;

/** Everything that wakes on memory. Where a v1 threshold does not stand where it should (yet), the sampler watches. */
export class MemoryNotifiers {
  readonly #native: Binding;
  readonly #plan: WatchPlan;
  readonly #thresholds: UsageThresholds | undefined;
  readonly #sampler: SamplerNotifier;
  readonly #pressure: PressureNotifier | undefined;
  readonly #events: WatchSlot;
  #onWake: (wake: Wake) => void = () => undefined;
  #lastWakeNs = -QUIET_NS;

  constructor(native: Binding, plan: WatchPlan) {
    const wake: SlotWake = (source, atNs, approaching) => {
      this.#lastWakeNs = atNs;
      this.#onWake({ source, atNs, approaching });
    };
    this.#native = native;
    this.#plan = plan;
    if (plan.thresholdDirectory !== undefined) {
      this.#thresholds = new UsageThresholds(native, plan.thresholdDirectory, plan.nodeName, plan.pageSize, wake);
    }
    this.#sampler = new SamplerNotifier(native, { value: plan.workingSet, assumedRate: assumedFillRate('bytes') }, wake);
    this.#pressure = plan.pressureFile === undefined ? undefined : new PressureNotifier(native, plan.pressureFile, wake);
    this.#events = new WatchSlot('memcg_events', native.WAKE.GONE, wake);
  }

  /**
   * Watches for these limits, given what was read last.
   *
   * @returns whether something was armed or moved: what had crossed by then does not wake
   */
  arm(limits: readonly MemoryLimit[], reading: MemoryReading, nowNs: bigint, onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    if (limits.length === 0) {
      this.close();
      return false;
    }
    const quiet = nowNs - this.#lastWakeNs >= QUIET_NS;
    const { moved, exact } = this.#thresholds?.arm(limits, reading, quiet) ?? { moved: false, exact: false };
    if (exact) this.#sampler.close();
    const sampled = !exact && this.#armSampler(limits, reading.capacity);
    const pressure = this.#pressure?.arm() ?? false;
    const events = this.#armEvents();
    return moved || sampled || pressure || events;
  }

  /** What a pass has read. */
  seen({ usage, inactiveFile }: MemoryReading): void {
    this.#sampler.seen(Number(usage - inactiveFile));
  }

  states(): NotifierState[] {
    const thresholds = this.#thresholds?.states(this.#sampler.live) ?? [];
    const sampler = this.#sampler.state(thresholds.every((state) => !state.live));
    if (sampler === undefined && thresholds.length === 0) return []; // no memory threshold
    const events =
      this.#plan.eventsDirectory === undefined ? undefined : this.#events.state(`memory.events of ${this.#plan.nodeName}`, false);
    const { signal } = this.#plan;
    return [...thresholds, sampler, this.#pressure?.state(), events].flatMap((state) => (state ? [{ ...state, signal }] : []));
  }

  close(): void {
    this.#thresholds?.close();
    this.#sampler.close();
    this.#pressure?.close();
    this.#events.close();
  }

  #armSampler(limits: readonly MemoryLimit[], capacity: bigint): boolean {
    const values = limits.map(({ bytes }) => Number(workingSetLimit(capacity, bytes)));
    return this.#sampler.arm(values, `working set ≥ ${values.join(', ')} of ${this.#plan.nodeName}`);
  }

  #armEvents(): boolean {
    const directory = this.#plan.eventsDirectory;
    if (directory === undefined || this.#events.live) return false;
    return this.#events.open(directory, (onWake) => new this.#native.MemcgEvents(directory, 'memory.events', onWake), refusal);
  }
}
