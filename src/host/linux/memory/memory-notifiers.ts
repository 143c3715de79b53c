import { cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import { orderedLimit } from '../../../core/threshold/ordered-limit.js';
import { operandsOf, operandText, resolve, type Operand, type Threshold } from '../../../core/threshold/threshold.js';
import type { NotifierState, Wake } from '../../../monitor/ports/ports.js';
import type { OrderCondition } from '../../../monitor/ports/standing-order.js';
import type { Binding, EventsBits, OomBits } from '../../../native/binding.js';
import { type MemoryLimit, UsageThresholds } from './usage-threshold.js';
import { sampledAt, sampledLimit, type MemoryReading, type MemorySource, type SampledMemory } from './memory.js';
import { readPageSize } from './memory-reserve.js';
import { refusal, WatchSlot, type SlotWake } from '../sampling/watch-slot.js';
import { SamplerNotifier } from '../sampling/sampler-notifier.js';
import { memoryStallTrigger, type StallTrigger } from '../pressure/psi-trigger.js';

export interface WatchPlan {
  readonly signal: NotifierState['signal'];
  /** 'the machine' or the cgroup's path. */
  readonly nodeName: string;
  /** v1: the cgroup whose usage the kernel compares with thresholds; undefined: only the sampler watches. */
  readonly thresholdDirectory: string | undefined;
  readonly sampled: SampledMemory;
  /** undefined: not watched. */
  readonly pressureFile: string | undefined;
  /** v2: the cgroup whose memory.events reports limit hits. */
  readonly eventsDirectory: string | undefined;
  /** v1: the cgroup whose memory.oom_control reports the kernel's OOM killer. */
  readonly oomDirectory: string | undefined;
  readonly pageSize: bigint;
}

/** @param v1PressureFile  a v1 cgroup has no pressure of its own */
export function cgroupPlan(
  signal: WatchPlan['signal'],
  hierarchy: CgroupHierarchy,
  path: string,
  { sampled }: MemorySource,
  v1PressureFile: string | undefined,
): WatchPlan {
  const directory = cgroupDirectory(hierarchy, path);
  const common = { signal, nodeName: path, sampled, pageSize: readPageSize() };
  return hierarchy.version === 1
    ? { ...common, thresholdDirectory: directory, pressureFile: v1PressureFile, eventsDirectory: undefined, oomDirectory: directory }
    : {
        ...common,
        thresholdDirectory: undefined,
        pressureFile: `${directory}/memory.pressure`,
        eventsDirectory: directory,
        oomDirectory: undefined,
      };
}

/**
 * All that wakes on memory. The sampler also runs beside v1 thresholds: they compare usage, evictd compares usage −
 * reclaimable memory, which rises at the same usage when page cache is reclaimed, so a registration may lie above all
 * memory. A registration also takes the kernel 8 to 32 ms.
 */
export class MemoryNotifiers {
  readonly #native: Binding;
  readonly #plan: WatchPlan;
  readonly #thresholds: UsageThresholds | undefined;
  readonly #sampler: SamplerNotifier;
  readonly #pressure: StallTrigger | undefined;
  readonly #events: WatchSlot;
  readonly #oom: WatchSlot;
  #onWake: (wake: Wake) => void = () => undefined;

  constructor(native: Binding, plan: WatchPlan) {
    const counters = { memcg_events: counterBits(native.EVENTS), memcg_oom: counterBits(native.OOM) };
    const wake: SlotWake = (source, atNs, detail, approaching) => {
      const moved = source === 'memcg_events' || source === 'memcg_oom' ? counters[source].filter(({ bit }) => (detail & bit) !== 0) : [];
      this.#onWake({ source, atNs, approaching, ...(moved.length > 0 && { counters: moved.map(({ name }) => name) }) });
    };
    this.#native = native;
    this.#plan = plan;
    if (plan.thresholdDirectory !== undefined) {
      this.#thresholds = new UsageThresholds(native, plan.thresholdDirectory, plan.nodeName, plan.pageSize, wake);
    }
    this.#sampler = new SamplerNotifier(native, { value: plan.sampled, unit: 'memory' }, wake);
    this.#pressure = plan.pressureFile === undefined ? undefined : memoryStallTrigger(native, plan.pressureFile, wake);
    this.#events = new WatchSlot('memcg_events', native.WAKE.GONE, wake);
    this.#oom = new WatchSlot('memcg_oom', native.WAKE.GONE, wake);
  }

  /**
   * Watches for the thresholds of its signal, given the last reading.
   *
   * @returns whether something was armed or moved, so that a limit crossed before does not wake. A v1 threshold wakes
   * when it is registered
   */
  arm(thresholds: readonly Threshold[], reading: MemoryReading, nowNs: bigint, onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    const { signal } = this.#plan;
    const { capacity } = reading;
    const operands = thresholds.flatMap(operandsOf).filter((operand) => operand.signal === signal);
    const limits = limitsOf(operands, capacity);
    if (limits.length === 0) {
      this.close();
      return false;
    }
    this.#thresholds?.arm(limits, reading, nowNs);
    const ordered = signal === 'memory.available' ? orderedLimit(thresholds, capacity) : undefined;
    const sampled = this.#armSampler(limits, capacity, ordered?.limit);
    const pressure = this.#pressure?.arm() ?? false;
    const events = this.#armEvents();
    const oom = this.#armOom();
    return sampled || pressure || events || oom;
  }

  seen(reading: MemoryReading): void {
    this.#sampler.seen(Number(sampledAt(this.#plan.sampled, reading)));
  }

  states(): NotifierState[] {
    const thresholds = this.#thresholds?.states(this.#sampler.live) ?? [];
    const sampler = this.#sampler.state(thresholds.every((state) => !state.live));
    if (sampler === undefined && thresholds.length === 0) return []; // no memory threshold
    const events =
      this.#plan.eventsDirectory === undefined ? undefined : this.#events.state(`memory.events of ${this.#plan.nodeName}`, false);
    const oom = this.#plan.oomDirectory === undefined ? undefined : this.#oom.state(`memory.oom_control of ${this.#plan.nodeName}`, false);
    const { signal } = this.#plan;
    return [...thresholds, sampler, this.#pressure?.state(), events, oom].flatMap((state) => (state ? [{ ...state, signal }] : []));
  }

  close(): void {
    this.#thresholds?.close();
    this.#sampler.close();
    this.#pressure?.close();
    this.#events.close();
    this.#oom.close();
  }

  /** @param ordered  bytes of the standing order's threshold; the order is needed when less than twice as much is available */
  #armSampler(limits: readonly MemoryLimit[], capacity: bigint, ordered: bigint | undefined): boolean {
    const { sampled, nodeName } = this.#plan;
    const values = limits.map(({ bytes }) => Number(sampledLimit(sampled, capacity, bytes)));
    const target =
      sampled.counts === 'used'
        ? `memory in use ≥ ${values.join(', ')} of ${nodeName}`
        : `available memory < ${limits.map(({ bytes }) => bytes).join(', ')} of ${nodeName}`;
    const noticeDistance = ordered === undefined ? undefined : Number(ordered);
    return this.#sampler.arm(values, target, noticeDistance);
  }

  /** What the sampler compares. */
  crossing(bytes: bigint, { capacity }: MemoryReading): OrderCondition {
    const { sampled } = this.#plan;
    return { value: sampled, atLeast: Number(sampledLimit(sampled, capacity, bytes)) };
  }

  #armEvents(): boolean {
    const directory = this.#plan.eventsDirectory;
    if (directory === undefined || this.#events.live) return false;
    return this.#events.open(directory, (onWake) => new this.#native.MemcgEvents(directory, 'memory.events', onWake), refusal);
  }

  #armOom(): boolean {
    const directory = this.#plan.oomDirectory;
    if (directory === undefined || this.#oom.live) return false;
    return this.#oom.open(directory, (onWake) => new this.#native.OomControl(directory, onWake), refusal);
  }
}

/** Named as in the kernel's files. */
function counterBits(bits: EventsBits | OomBits): readonly { readonly name: string; readonly bit: number }[] {
  return Object.entries(bits).map(([name, bit]: [string, number]) => ({ name: name.toLowerCase(), bit }));
}

/** One limit for each value, which a map's threshold and a joined one may share. Less than 0 is never available. */
function limitsOf(operands: readonly Operand[], capacity: bigint): readonly MemoryLimit[] {
  const byText = new Map(operands.map((operand) => [operandText(operand), operand.value]));
  return [...byText].map(([id, value]) => ({ id, bytes: resolve(value, capacity) })).filter(({ bytes }) => bytes > 0n);
}
